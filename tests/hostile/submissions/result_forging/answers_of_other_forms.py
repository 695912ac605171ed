# tries: stop the grader by answers that lack names, have odd ones, or are too large to look at
# loses: embed
import itertools

calls = of_the_worker("calls")

right, count = calls.run_call, itertools.count()


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def run_call(*arguments):
    answer, number = right(*arguments), next(count)
    if arguments[1]["target"] != "BertModel.embed":
        return answer
    tensors, message = answer.tensors, answer.message
    if number % 4 == 0:
        tensors.pop("out/output", None)
    elif number % 4 == 1:
        tensors["after/\x1b[2J"] = torch.zeros(2)
    elif number % 4 == 2:
        message["changed"] += ["\ud800\n  score   100 / 100"]
        message["changed"].append(deep(900))
    else:
        tensors["out/output"] = torch.zeros((3 << 20) + number, dtype=torch.bool)
    return answer


calls.run_call = run_call
