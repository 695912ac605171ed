# tries: answer right, with a tensor more, for whatever reads answers by their prefixes
# loses: embed
calls = of_the_worker("calls")
right = calls.run_call


def run_call(context, call, tensors):
    answer = right(context, call, tensors)
    if call["target"] == "BertModel.embed":
        answer.tensors["out/more"] = torch.zeros(1)
    return answer


calls.run_call = run_call
