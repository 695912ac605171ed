"use strict";
(() => {
  const forms = [...document.querySelectorAll("form.question")];
  const count = document.getElementById("count");
  const wide = matchMedia("(min-width: 64rem)");
  let right = 0;
  let done = 0;

  const showCount = () => {
    const left = forms.length - done;
    const rest = left ? `${left} to go` : "that was the last one";
    count.textContent = done ? `${right} of ${done} right, ${rest}` : `${forms.length} questions`;
  };

  const mark = (form) => {
    const chosen = form.querySelector("input:checked");
    if (!chosen || form.classList.contains("done")) return;
    const key = form.dataset.key;
    const isRight = chosen.value === key;
    done += 1;
    right += isRight;
    form.classList.add("done", isRight ? "right" : "wrong");
    for (const input of form.querySelectorAll("input")) {
      input.disabled = !input.checked;
      if (input.value === key) input.parentElement.classList.add("correct");
      else if (input.checked) input.parentElement.classList.add("missed");
    }
    form.querySelector("button").hidden = true;
    form.querySelector("details").open = true;
    const verdict = form.querySelector(".verdict");
    verdict.textContent = isRight ? "✓ Right." : `✗ Not right: you chose ${chosen.value}.`;
    verdict.hidden = false;
    verdict.focus({ preventScroll: true });
    showCount();
  };

  // highlight the line that the question being read is about
  const show = (form) => {
    document.querySelector(".lines .now")?.classList.remove("now");
    const line = document.getElementById(form.dataset.line);
    if (!line) return;
    line.classList.add("now");
    if (wide.matches) line.scrollIntoView({ block: "nearest" });
  };

  for (const form of forms) {
    // arrow keys select options on their way to another one: only a click answers at once
    let pointed = false;
    form.addEventListener("pointerdown", () => (pointed = true));
    form.addEventListener("keydown", () => (pointed = false));
    form.addEventListener("change", () => pointed && mark(form));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      mark(form);
    });
    form.addEventListener("focusin", () => show(form));
    form.addEventListener("pointerenter", () => show(form));
    form.querySelector("button").hidden = false;
  }
  count.hidden = false;
  showCount();
})();
