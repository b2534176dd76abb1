import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { findPaleTexts } from "./contrast.ts"
import { eventually } from "./eventually.ts"

const axePath = fileURLToPath(import.meta.resolve("axe-core/axe.min.js"))
const axe = readFileSync(axePath, "utf8")

// Describing each element that passes takes axe long, and so does fetching the style sheets, which
// no rule needs here. Frames are left out: axe is not in them, and it would wait for their reply and
// log that their origin differs.
const common = { resultTypes: ["violations"], iframes: false, preload: false }
/** The browser draws options: a list of all time zones would take axe seconds. */
const context = { exclude: ["option"] }
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
/** Tags of rules that axe leaves out, too, unless they are named. */
const tagsExcluded = ["experimental", "deprecated"]
/** The rest is not looked at. What a rule finds has the impact of the rule. */
const impacts = ["serious", "critical"]

/**
 * The serious and critical findings of axe-core on a page, and texts that are too pale. Rules with
 * less impact take a quarter of its time, so they do not run. Axe itself takes three quarters of its
 * time for contrast: it is asked for that where something may be behind a text without being around
 * it.
 */
export async function findBarriers(page: Page, { hasLayers = false } = {}) {
  // Evaluated through the debugger: the CSP of the page blocks injected scripts. Once per document:
  // half a megabyte takes long to parse.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe)
  const found = await page.evaluate(
    async ({ context, common, tags, tagsExcluded, impacts, hasLayers }) => {
      type Violation = {
        id: string
        nodes: { target: string[]; failureSummary: string }[]
      }
      type Rule = { id: string; impact: string; tags: string[]; enabled: boolean }
      const { axe } = globalThis as unknown as {
        axe: {
          _audit: { rules: Rule[] }
          run(context: object, options: object): Promise<{ violations: Violation[] }>
        }
      }
      const values = axe._audit.rules
        .filter(({ enabled, impact }) => enabled && impacts.includes(impact))
        .filter((rule) => rule.tags.some((tag) => tags.includes(tag)))
        .filter((rule) => !rule.tags.some((tag) => tagsExcluded.includes(tag)))
        .map(({ id }) => id)
        .filter((id) => hasLayers || id !== "color-contrast")
      const { violations } = await axe.run(context, {
        ...common,
        runOnly: { type: "rule", values },
      })
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
      )
    },
    { context, common, tags, tagsExcluded, impacts, hasLayers },
  )
  return [...found, ...(await page.evaluate(findPaleTexts))]
}

/** Waits until axe-core finds nothing serious: content that is loading may be in the way. */
export async function expectNoBarriers(page: Page, layers = {}): Promise<void> {
  await eventually(
    () => findBarriers(page, layers),
    (found) => expect(found).toEqual([]),
  )
}

/** The last elements beyond the screen when the page is wider than it; none if it is not. */
export async function findTooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth <= clientWidth + 1) return []
    return [...document.body.querySelectorAll("*")]
      .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
      .slice(-5)
      .map((element) => `${element.localName}.${element.getAttribute("class")}`)
  })
}

/**
 * The visible headings that skip a level. Texts that users write are left out, and a list of pages
 * may come before the title.
 */
export async function findHeadingJumps(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(
      (heading) => heading.checkVisibility() && !heading.closest(".markdown"),
    )
    const levels = headings.map(({ localName }) => Number(localName.slice(1)))
    return headings
      .filter((_, index) => (levels[index] ?? 0) > (levels[index - 1] ?? 1) + 1)
      .map(({ localName, textContent }) => `${localName}: ${textContent}`)
  })
}

/** Targets on a phone that are not as high as this are hard to hit. */
const targetPx = 40

/**
 * What is not a target of its own size: links and buttons inside of texts, names in rows of tables,
 * lines of logged values, marks beside a title, whose menus the tabs have as well, and the editor.
 */
const smallTargets = [
  ".link-button",
  ".row-link",
  ".markdown *",
  "p > *",
  "button.badge",
  ".tree-node > summary",
  ".cm-editor *",
  ".visually-hidden",
].join()

/** Buttons and the like that are too small for a finger. */
export async function findSmallTargets(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    ({ targetPx, smallTargets }) => {
      const targets = [
        "button, select, summary, .button, .icon-button, .tab, .segment, [role=menuitem], .nav-link",
        "label.check, input:not([type=checkbox], [type=radio], [type=file], [type=hidden])",
      ].join()
      return [...document.querySelectorAll<HTMLElement>(targets)]
        .filter((element) => element.checkVisibility() && !element.matches(smallTargets))
        .filter((element) => {
          const { width, height } = element.getBoundingClientRect()
          const isIcon = element.classList.contains("icon-button")
          return height < targetPx - 0.5 || (isIcon && width < targetPx - 0.5)
        })
        .map((element) => {
          const { width, height } = element.getBoundingClientRect()
          const name = element.getAttribute("aria-label") ?? element.textContent?.slice(0, 30)
          return `${element.localName}.${element.getAttribute("class")} "${name}": ${Math.round(width)} × ${Math.round(height)}`
        })
    },
    { targetPx, smallTargets },
  )
}
