import { expect, test } from "bun:test"
import { describeBrowser } from "./describe-browser.ts"

test("describeBrowser names browser and system, and leaves what it does not know", () => {
  expect(
    describeBrowser(
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
    ),
  ).toBe("Chrome on Linux")
  expect(describeBrowser("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15) Firefox/130.0")).toBe(
    "Firefox on macOS",
  )
  expect(describeBrowser("<script>alert(1)</script>")).toBe("<script>alert(1)</script>")
  expect(describeBrowser(null)).toBe("A browser")
})
