import { describe, expect, test } from "bun:test"
import type { AttackScene } from "./attack-scene.ts"
import { hostileTexts } from "./hostile-texts.ts"

/** Attacks by links into the app. */
export function attackByAddresses(at: () => AttackScene): void {
  describe("by addresses", () => {
    const [first = "", ...others] = hostileTexts.slice(0, 4).map(encodeURIComponent)
    const toPaths = (part: string) => [
      `/u/${part}`,
      `/u/eve/${part}`,
      `/runs/${part}`,
      `/search?q=${part}`,
      `/?q=${part}&privacy=${part}&sort=${part}`,
      `/account#${part}`,
    ]
    const opened = [
      ...toPaths(first),
      `/embed/eve/${first}`,
      "/u/%",
      "/u/%E0%A4%A/%00",
      "/sign-in#code=%3Csvg%20onload=canary(1)%3E",
    ]
    /** The server returns the same document for all addresses: a new one would read no more of them. */
    const followed = [
      ...others.flatMap(toPaths),
      ...["__proto__", "constructor", "toString", "hasOwnProperty"].flatMap((name) => [
        `/account/${name}`,
        `/u/eve/plain/${name}`,
        `/runs?period=${name}&source=${name}&status=${name}&text=${name}`,
        `/?privacy=${name}&type=${name}&sort=${name}`,
      ]),
      "/u/eve/plain/versions?from=-1&to=99999999999&layout=x",
      "/u/eve/plain?line=-1",
    ]
    test("run nothing, and a page is shown", async () => {
      const { expectNothing, tab } = at()
      const expectPage = () => tab.page.getByRole("heading", { level: 1 }).first().waitFor()
      for (const path of opened) {
        await tab.page.goto(path)
        await expectPage()
      }
      await tab.page.goto("/guide")
      for (const path of followed) {
        await tab.page.evaluate(async (to) => {
          history.pushState(null, "", to)
          dispatchEvent(new PopStateEvent("popstate"))
          // The page at the address replaces the one before.
          await new Promise((resolve) => setTimeout(resolve, 50))
        }, path)
        await expectPage()
      }
      await expectNothing()
    })

    test("lead to a page of the app after signing in", async () => {
      const { ada, open, stage } = at()
      // own-path.test.ts has more of them.
      await using other = await open()
      await other.page.goto(`/sign-in?to=${encodeURIComponent("/\\elsewhere.invalid")}`)
      await other.page.getByLabel("Token").fill(ada.token)
      await other.page.getByRole("button", { name: "Sign in" }).click()
      await other.page.getByRole("button", { name: "Account of ada" }).waitFor()
      expect(other.page.url()).toBe(`${stage.url}/`)
      expect(other.problems).toEqual([])
    })
  })
}
