// What sticks out of the page to the right, unless it is in a box that scrolls.
const cut = () => [...document.querySelectorAll("body *")]
  .filter((each) => !each.closest(".lines, .program, .members, .skip, .hidden, #step .scroll"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.outerHTML.slice(0, 80));
// Texts whose contrast with what is behind them is below 4.5, as WCAG 2 defines it.
const faint = () => {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => sum + weight * linear(colour[at] / 255), 0);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgb(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("p, a, th, td, i, span, button, summary, h1, h2, h3, h4, code")];
  return texts.filter((each) => each.checkVisibility() && each.textContent.trim()).filter((each) => {
    const [low, high] = [light(rgb(getComputedStyle(each).color)), light(behind(each))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05) < 4.5;
  }).map((each) => each.outerHTML.slice(0, 80));
};
