import { expect } from "bun:test"
import type { Frame, Page } from "playwright-core"
import type { OpenTab, Person } from "../../../dev/app-stage.ts"
import type { App } from "../describe-app.ts"
import { type Canary, releaseCanary } from "./canary.ts"
import { type Elsewhere, startElsewhere } from "./elsewhere.ts"
import { hostileHttp } from "./hostile-vals.ts"

/** Somebody who is signed in, somebody who means harm, and another site. */
export interface AttackScene extends AsyncDisposable, Pick<App, "open" | "stage"> {
  readonly ada: Person
  readonly eve: Person
  /** Ada's. */
  readonly tab: OpenTab
  readonly canary: Canary
  readonly elsewhere: Elsewhere
  /** A private val of Ada's. */
  readonly target: { readonly valId: string; readonly valName: string }
  /** Where Eve's val `reaching` answers. */
  readonly reaching: string
  /** Opens a page in Ada's tab and waits for a text on it. */
  show(path: string, text: string): Promise<void>
  /** The frame in Ada's tab, once the val's page is in it. */
  findFrame(): Promise<Frame>
  /**
   * Nothing ran, nothing opened, nothing was asked for elsewhere, no policy was broken, and we are
   * where we were.
   */
  expectNothing(): Promise<void>
}

/** Sets the scene. */
export async function openAttackScene({ open, stage }: App): Promise<AttackScene> {
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
  const tab = await open(ada)
  const { page } = tab
  const canary = await releaseCanary(tab.context, stage.valsDomain)
  return {
    open,
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
 * Waits until whatever a page has begun to load before now has failed or come: a trick that waits
 * for its picture to fail would otherwise be heard too late. The picture that is asked for here
 * fails in the same way, after the others.
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
 * The sanitiser reads markup into a document that is never shown and runs nothing. Chromium notes
 * there what the policy would refuse; what is left of the markup afterwards is looked at by the
 * test itself.
 */
function isOfParser(problem: string): boolean {
  return /^(Executing inline event handler|Applying inline style|Setting the document's base URI) /.test(
    problem,
  )
}
