import { expect } from "bun:test"
import type { Frame, Page } from "playwright-core"
import type { OpenTab, Person } from "../../../dev/app-stage.ts"
import type { App } from "../../support/describe-app.ts"
import { type Canary, releaseCanary } from "./canary.ts"
import { type Elsewhere, startElsewhere } from "./elsewhere.ts"
import { hostileHttp } from "./hostile-vals.ts"

/** A signed-in victim (Ada), an attacker (Eve), and another site. */
export interface AttackScene extends AsyncDisposable, Pick<App, "open" | "openTyped" | "stage"> {
  readonly ada: Person
  readonly eve: Person
  /** Ada's tab. */
  readonly tab: OpenTab
  readonly canary: Canary
  readonly elsewhere: Elsewhere
  /** A private val of Ada's. */
  readonly target: { readonly valId: string; readonly valName: string }
  /** The web address of Eve's val `reaching`. */
  readonly reaching: string
  /** Opens a page in Ada's tab and waits for a text on it. */
  show(path: string, text: string): Promise<void>
  /** The frame in Ada's tab, once the val's page is in it. */
  findFrame(): Promise<Frame>
  /**
   * No script ran, no window opened, no request went to another site, the CSP was not violated, and
   * the page did not change.
   */
  expectNothing(): Promise<void>
}

/** Creates the users, the vals and the other site. */
export async function openAttackScene({ open, openTyped, stage }: App): Promise<AttackScene> {
  const elsewhere = startElsewhere()
  const [ada, eve] = [await stage.person("ada"), await stage.person("eve")]
  await eve.client.createVal({ name: "plain", code: "export default 1\n", privacy: "public" })
  const { links } = await eve.client.createVal({
    name: "reaching",
    code: hostileHttp("x"),
    type: "http",
    privacy: "public",
  })
  const { id } = await ada.client.createVal({
    name: "target",
    code: "export default () => 1\n",
    privacy: "private",
  })
  // A profile of its own: the canary stays in it.
  const tab = await open(ada, {})
  const { page } = tab
  const canary = await releaseCanary(tab.context, stage.valsDomain)
  return {
    open,
    openTyped,
    stage,
    ada,
    eve,
    tab,
    canary,
    elsewhere,
    target: { valId: id, valName: "ada.target" },
    reaching: links.endpoint ?? "",
    async show(path, text) {
      await page.goto(path)
      await page.getByText(text).first().waitFor()
    },
    async findFrame() {
      // What was seen before is there.
      const load = page.getByRole("button", { name: "Load the page" })
      await load.or(page.locator("iframe")).first().waitFor()
      if ((await load.count()) > 0) await load.click()
      await page.frameLocator("iframe").getByText("x-hostile").waitFor()
      const frame = page.frames().find((frame) => frame !== page.mainFrame())
      if (!frame) throw new Error("there is no frame")
      return frame
    },
    async expectNothing() {
      await settle(page)
      expect([
        ...canary.take(),
        ...tab.problems.splice(0).filter((problem) => !isOfParser(problem)),
      ]).toEqual([])
      expect(new URL(page.url()).origin).toBe(stage.url)
    },
    async [Symbol.asyncDispose]() {
      await elsewhere.stop()
    },
  }
}

/**
 * Waits until earlier loads of the page have ended: an attack in `onerror` of an image would
 * otherwise run too late. The image that is loaded here fails in the same way, after the others.
 */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const picture = new Image()
    const failed = new Promise((resolve) => picture.addEventListener("error", resolve))
    picture.src = "/assets/none"
    await failed
    await new Promise((resolve) => requestAnimationFrame(resolve))
  })
}

/**
 * The sanitizer parses markup in an inert document. Chromium logs CSP violations there; the tests
 * check the sanitized markup itself.
 */
function isOfParser(problem: string): boolean {
  return /^(Executing inline event handler|Applying inline style|Setting the document's base URI) /.test(
    problem,
  )
}
