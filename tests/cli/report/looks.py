"""Compares what a page looks like with small pictures in looks/: a page of 1200 pixels is taken at a twelfth of its size, so that letters become
grey and layout, colours and charts stay.  A picture agrees when at most 6 % of its pixels differ by more than 40 of 255 in a colour: another font or
date changes less, another theme, a chart that is missing or a section that moved changes more.  RKB_LOOKS=write writes the pictures anew."""
import base64
import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "looks")
WIDTH, HEIGHT, SCALE = 1200, 3600, 1 / 12
MOST_SHARE, LEVELS = 0.06, 40
SHARE = """(async (left, right, levels) => {
  const pixels = async data => {
    const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {type: "image/png"})); // the page itself may load no picture
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = [await pixels(left), await pixels(right)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let differ = 0;
  for (let i = 0; i < a.data.length; i += 4)
    differ += [0, 1, 2].some(at => Math.abs(a.data[i + at] - b.data[i + at]) > levels);
  return differ / (a.data.length / 4);
})"""


def take(browser):
    browser.evaluate("scrollTo(0, 0)")
    browser.frame()
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": SCALE}
    return browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]


def share(browser, left, right):
    """Of the pixels of two pictures, which differ."""
    return browser.evaluate(f"{SHARE}({json.dumps(left)}, {json.dumps(right)}, {LEVELS})")


def compare(browser, name):
    """In both themes; the page is light afterwards."""
    seen = {}
    for theme in ("dark", "light"):
        browser.emulate(theme)
        browser.frame()
        seen[theme] = take(browser)
        path = os.path.join(FOLDER, f"{name}-{theme}.png")
        if os.environ.get("RKB_LOOKS") == "write":
            os.makedirs(FOLDER, exist_ok=True)
            with open(path, "wb") as file:
                file.write(base64.b64decode(seen[theme]))
        with open(path, "rb") as file:
            differ = share(browser, base64.b64encode(file.read()).decode(), seen[theme])
        assert differ <= MOST_SHARE, f"{name}, {theme}: {differ:.1%} of the pixels differ from {path}; RKB_LOOKS=write takes the new look"
        print(f"{name}, {theme}: {differ:.2%} of the pixels differ")
    assert share(browser, seen["light"], seen["dark"]) > 0.5, "the two themes look alike, or the comparison sees nothing"
