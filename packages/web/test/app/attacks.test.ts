import { afterAll, beforeAll, expect, test } from "bun:test"
import { describeApp } from "../support/describe-app.ts"
import { eventually } from "../support/eventually.ts"
import { type AttackScene, openAttackScene } from "./attacks/attack-scene.ts"
import { attackByAddresses } from "./attacks/by-addresses.ts"
import { attackByOtherSites } from "./attacks/by-other-sites.ts"
import { attackByTexts } from "./attacks/by-texts.ts"
import { attackByVals } from "./attacks/by-vals.ts"
import { checkPolicy } from "./attacks/policy.ts"

describeApp("attacks", (app) => {
  let scene: AttackScene
  beforeAll(async () => {
    scene = await openAttackScene(app)
  })
  afterAll(() => scene?.[Symbol.asyncDispose]())

  test("are detected: a script that runs in the app calls the canary", async () => {
    const { tab, canary, stage } = scene
    await tab.page.goto("/")
    await tab.page.evaluate("canary('control'); alert('control')")
    await tab.page.evaluate("new Image().src = 'http://elsewhere.invalid/control'")
    await tab.page
      .evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=canary(1)>')")
      .catch(() => {})
    const records: string[] = []
    const listen = () => records.push(...canary.take(), ...tab.problems.splice(0))
    await eventually(listen, () => {
      for (const text of [`${stage.url}/ ran control`, "alert: control", "img-src", "TrustedHTML"])
        expect(records.join("\n")).toContain(text)
    })
  })

  attackByTexts(() => scene)
  attackByAddresses(() => scene)
  attackByVals(() => scene)
  attackByOtherSites(() => scene)
  checkPolicy(() => scene)
})
