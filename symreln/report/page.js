"use strict";
// What a page does beyond being read: its colours by a button, folds all at once, LaTeX copied.
// Runs in the page's head; everything that it adds is missing without it, and nothing is hidden.
{
  const root = document.documentElement;

  // Storage is refused to a page in a sandbox: the choice then lasts as long as the page.
  const remember = (theme) => { try { sessionStorage.setItem("theme", theme); } catch { /* refused */ } };
  const remembered = () => { try { return sessionStorage.getItem("theme"); } catch { return null; } };

  const button = (text, act, label = "") => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", () => act(made));
    return made;
  };

  // Colours: before the first paint, so that a remembered choice does not flash.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  if (remembered()) root.dataset.theme = remembered();

  const themeButton = () => {
    const made = button("Dark", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      remember(root.dataset.theme);
      show();
    }, "Dark colours");
    const show = () => made.setAttribute("aria-pressed", dark());
    system.addEventListener("change", show);
    show();
    return made;
  };

  const tools = (...buttons) => {
    const made = document.createElement("p");
    made.className = "tools";
    made.append(...buttons);
    return made;
  };

  // Folds: two buttons below the heading of a section that has several.
  const foldButtons = (section) => {
    const folds = section.querySelectorAll(":scope > details");
    if (folds.length < 2) return;
    const set = (open) => () => folds.forEach((fold) => { fold.open = open; });
    section.firstElementChild.after(tools(button("Open all", set(true)), button("Fold all", set(false))));
  };

  // The keyboard stops at what can be scrolled here and now.
  const stops = () => document.querySelectorAll(".scroll").forEach((box) => {
    box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
  });

  // Copying: the LaTeX of a formula is its annotation.
  const latex = (math) => math.querySelector("annotation").textContent;

  const copyThroughSelection = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text); // missing on some file: addresses, refused in frames
      return true;
    } catch {
      return copyThroughSelection(text);
    }
  };

  const copyButton = (equation, status) => {
    const number = equation.querySelector(":scope > .number")?.textContent ?? "";
    const name = number ? `equation ${number}` : "this equation";
    const made = button("TeX", async () => {
      const done = await copy(latex(equation.querySelector("math")));
      status.textContent = done ? `LaTeX of ${name} copied` : "The browser refused to copy";
      made.textContent = done ? "\u2713" : "\u2717";
      made.focus();
      setTimeout(() => { made.textContent = "TeX"; status.textContent = ""; }, 2000);
    }, `Copy LaTeX of ${name}`);
    made.className = "copy";
    equation.append(made);
  };

  // What is copied with words around it has its formulas as LaTeX, too.
  const copySelection = (event) => {
    const selection = getSelection();
    if (selection.isCollapsed || !event.clipboardData) return;
    const copied = document.createElement("div");
    for (let index = 0; index < selection.rangeCount; index += 1) {
      copied.append(selection.getRangeAt(index).cloneContents());
    }
    const formulas = copied.querySelectorAll("math:has(annotation)");
    if (!formulas.length) return;
    formulas.forEach((math) => {
      const [before, after] = math.getAttribute("display") ? ["\\[", "\\]"] : ["$", "$"];
      math.replaceWith(before + latex(math) + after);
    });
    copied.querySelectorAll("button").forEach((each) => each.remove());
    event.clipboardData.setData("text/plain", copied.textContent);
    event.preventDefault();
  };

  document.addEventListener("DOMContentLoaded", () => {
    const status = document.createElement("p");
    status.setAttribute("role", "status");
    status.className = "unseen";
    document.body.append(status);
    document.querySelector("body > header").append(tools(themeButton()));
    document.querySelectorAll("main section").forEach(foldButtons);
    document.querySelectorAll(".equation").forEach((each) => copyButton(each, status));
    document.addEventListener("copy", copySelection);
    document.addEventListener("toggle", stops, true);
    addEventListener("resize", stops);
    document.fonts.ready.then(stops);
  });
}
