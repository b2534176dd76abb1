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

/**
 * Runs in the page: the visible texts with less contrast than WCAG AA requires, against the
 * backgrounds of the elements around them. It takes a fiftieth of what axe takes, which also finds
 * what is behind an element without being around it.
 */
export function findPaleTexts(): string[] {
  type Colour = readonly [red: number, green: number, blue: number, alpha: number]
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
  const colours = new Map<string, Colour>()
  const toColour = (text: string): Colour => {
    const known = colours.get(text)
    if (known || !canvas) return known ?? [0, 0, 0, 1]
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = text
    canvas.fillRect(0, 0, 1, 1)
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data
    const colour: Colour = [red, green, blue, alpha / 255]
    colours.set(text, colour)
    return colour
  }
  const blend = (over: Colour, under: Colour, share = 1): Colour => {
    const alpha = over[3] * share
    const mix = (one: number, other: number) => one * alpha + other * (1 - alpha)
    return [mix(over[0], under[0]), mix(over[1], under[1]), mix(over[2], under[2]), 1]
  }
  const luminance = ([red, green, blue]: Colour) => {
    const toShare = (value: number) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    }
    return 0.2126 * toShare(red) + 0.7152 * toShare(green) + 0.0722 * toShare(blue)
  }
  interface Ground {
    readonly colour: Colour
    /** The opacity of the element and of those around it. */
    readonly opacity: number
  }
  const grounds = new Map<Element, Ground>()
  const groundOf = (element: Element | null): Ground => {
    if (!element) return { colour: [255, 255, 255, 1], opacity: 1 }
    const known = grounds.get(element)
    if (known) return known
    const around = groundOf(element.parentElement)
    const style = getComputedStyle(element)
    const opacity = around.opacity * Number(style.opacity)
    const colour = blend(toColour(style.backgroundColor), around.colour, opacity)
    grounds.set(element, { colour, opacity })
    return { colour, opacity }
  }
  const check = (element: Element, style: CSSStyleDeclaration, text: string) => {
    const { colour: ground, opacity } = groundOf(element)
    const [light, dark] = [
      luminance(blend(toColour(style.color), ground, opacity)),
      luminance(ground),
    ].toSorted((one, other) => other - one) as [number, number]
    const contrast = (light + 0.05) / (dark + 0.05)
    const pixels = Number.parseFloat(style.fontSize)
    const isLarge = pixels >= 24 || (pixels >= 18.66 && Number(style.fontWeight) >= 700)
    return contrast >= (isLarge ? 3 : 4.5)
      ? []
      : [
          `${contrast.toFixed(2)} "${text.trim()}" ${style.color} on ${ground.map(Math.round)} (${element.className})`,
        ]
  }
  const elements = [...document.querySelectorAll("#app *")].filter(
    (element) =>
      !element.matches("option, :disabled, :disabled *, [aria-disabled=true], svg *") &&
      element.checkVisibility({ visibilityProperty: true }),
  )
  return elements.flatMap((element) => {
    const texts = [...element.childNodes].filter(
      (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
    )
    const placeholder = element.getAttribute("placeholder")
    return [
      ...texts.flatMap((node) => check(element, getComputedStyle(element), node.textContent ?? "")),
      ...(placeholder
        ? check(element, getComputedStyle(element, "::placeholder"), placeholder)
        : []),
    ]
  })
}
