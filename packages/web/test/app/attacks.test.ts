import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Browser } from "playwright-core"
import { startBrowser } from "../../dev/browser.ts"
import { type AttackScene, openAttackScene } from "./attacks/attack-scene.ts"
import { attackByAddresses } from "./attacks/by-addresses.ts"
import { attackByOtherSites } from "./attacks/by-other-sites.ts"
import { attackByTexts } from "./attacks/by-texts.ts"
import { attackByVals } from "./attacks/by-vals.ts"
import { checkPolicy } from "./attacks/policy.ts"

const browser: Browser | undefined = await startBrowser()

describe.skipIf(!browser)("attacks", () => {
  let scene: AttackScene
  beforeAll(async () => {
    scene = await openAttackScene(browser as Browser)
  }, 120_000)
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]()
    await browser?.close()
  })

  test("are noticed: a script that runs in the app is heard", async () => {
    const { tab, canary, stage } = scene
    await tab.page.goto("/")
    await tab.page.evaluate("canary('control'); alert('control')")
    await tab.page.evaluate("new Image().src = 'http://elsewhere.invalid/control'")
    await tab.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=canary(1)>')").catch(() => {})
    expect(canary.take()).toEqual([`${stage.url}/ ran control`, "alert: control"])
    const problems = tab.problems.splice(0).join("\n")
    expect(problems).toContain("img-src")
    expect(problems).toContain("TrustedHTML")
  })

  attackByTexts(() => scene)
  attackByAddresses(() => scene)
  attackByVals(() => scene)
  attackByOtherSites(() => scene)
  checkPolicy(() => scene)
})
