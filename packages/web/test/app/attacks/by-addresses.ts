import { describe, expect, test } from "bun:test"
import type { AttackScene } from "./attack-scene.ts"
import { hostileTexts } from "./hostile-texts.ts"

/** Attacks by links into the app. */
export function attackByAddresses(at: () => AttackScene): void {
  describe("by addresses", () => {
    const parts = [
      ...hostileTexts.slice(0, 4).flatMap((text) => {
        const part = encodeURIComponent(text)
        return [
          `/u/${part}`,
          `/u/eve/${part}`,
          `/runs/${part}`,
          `/search?q=${part}`,
          `/?q=${part}&privacy=${part}&sort=${part}`,
          `/embed/eve/${part}`,
          `/account#${part}`,
        ]
      }),
      ...["__proto__", "constructor", "toString", "hasOwnProperty"].flatMap((name) => [
        `/account/${name}`,
        `/u/eve/plain/${name}`,
        `/runs?period=${name}&source=${name}&status=${name}&text=${name}`,
        `/?privacy=${name}&type=${name}&sort=${name}`,
      ]),
      "/u/%",
      "/u/%E0%A4%A/%00",
      "/u/eve/plain/versions?from=-1&to=99999999999&layout=x",
      "/u/eve/plain?line=-1",
      "/sign-in#code=%3Csvg%20onload=canary(1)%3E",
    ]
    test("run nothing, and a page is shown", async () => {
      const { expectNothing, tab } = at()
      for (const path of parts) {
        await tab.page.goto(path)
        await tab.page.getByRole("heading", { level: 1 }).first().waitFor()
      }
      await expectNothing()
    })

    test("lead to a page of the app after signing in", async () => {
      const { ada, open, stage } = at()
      for (const to of [
        "javascript:canary(1)",
        "//elsewhere.invalid",
        "/\\elsewhere.invalid",
        "/.//elsewhere.invalid",
        "http://[",
        "data:text/html,x",
      ]) {
        await using other = await open()
        await other.page.goto(`/sign-in?to=${encodeURIComponent(to)}`)
        await other.page.getByLabel("Token").fill(ada.token)
        await other.page.getByRole("button", { name: "Sign in" }).click()
        await other.page.getByRole("button", { name: "Account of ada" }).waitFor()
        expect(new URL(other.page.url()).origin).toBe(stage.url)
        expect(other.problems).toEqual([])
      }
    })
  })
}
