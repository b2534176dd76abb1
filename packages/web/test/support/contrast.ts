import { expect } from "bun:test"
import type { Page } from "playwright-core"
import { eventually } from "./eventually.ts"

/** Waits until every visible text has the contrast that WCAG AA requires. */
export async function expectNoPaleTexts(page: Page): Promise<void> {
  await eventually(
    () => page.evaluate(findPaleTexts),
    (found) => expect(found).toEqual([]),
  )
}

/** Runs in the page: the visible texts with less contrast than WCAG AA requires. */
function findPaleTexts(): string[] {
  const contrastMin = 4.5
  const toRgb = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = toRgb(color).map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const groundOf = (element: Element | null): string => {
    if (!element) return "rgb(255, 255, 255)"
    const color = getComputedStyle(element).backgroundColor
    return (toRgb(color)[3] ?? 1) === 0 ? groundOf(element.parentElement) : color
  }
  const check = (element: Element, color: string, text: string) => {
    const [light, dark] = [luminance(color), luminance(groundOf(element))].toSorted(
      (one, other) => other - one,
    ) as [number, number]
    const contrast = (light + 0.05) / (dark + 0.05)
    return contrast >= contrastMin
      ? []
      : [
          `${contrast.toFixed(2)} "${text.trim()}" ${color} on ${groundOf(element)} (${element.className})`,
        ]
  }
  const elements = [...document.querySelectorAll("#app *")].filter((element) =>
    element.checkVisibility({ visibilityProperty: true }),
  )
  return elements.flatMap((element) => {
    const texts = [...element.childNodes].filter(
      (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
    )
    const placeholder = element.getAttribute("placeholder")
    return [
      ...texts.flatMap((node) =>
        check(element, getComputedStyle(element).color, node.textContent ?? ""),
      ),
      ...(placeholder
        ? check(element, getComputedStyle(element, "::placeholder").color, placeholder)
        : []),
    ]
  })
}
