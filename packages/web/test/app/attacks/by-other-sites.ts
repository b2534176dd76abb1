import { describe, expect, test } from "bun:test"
import type { Frame, Page } from "playwright-core"
import type { AttackScene } from "./attack-scene.ts"
import { forgeLoads, forgeRequests, readAccount } from "./attempts.ts"
import { hostileHttp } from "./hostile-vals.ts"

/** Attacks by pages of other sites that a signed-in user visits. */
export function attackByOtherSites(at: () => AttackScene): void {
  describe("by other sites", () => {
    test("requests with the session of the user change nothing and reveal nothing", async () => {
      const { ada, elsewhere, eve, stage, tab, target } = at()
      const before = await readAccount(ada)
      const page = await tab.context.newPage()
      const { links } = await eve.client.createVal({
        name: "forging",
        code: hostileHttp("x"),
        type: "http",
        privacy: "public",
      })
      for (const origin of [elsewhere.url, links.endpoint ?? ""]) {
        await page.goto(origin)
        const attempts = await forgeRequests(page, stage.url, target)
        expect(
          attempts.filter(({ outcome }) => /^2\d\d/.test(outcome) || outcome.includes("ada")),
        ).toEqual([])
        if (origin === elsewhere.url)
          expect(await forgeLoads(page, stage.url, target, eve.token)).toEqual([])
      }
      await page.close()
      expect(await readAccount(ada)).toEqual(before)
      tab.problems.splice(0)
    })

    test("cannot frame the app, except for the embed page, which has no session", async () => {
      const { elsewhere, stage, tab } = at()
      const page = await tab.context.newPage()
      await page.goto(elsewhere.url)
      for (const path of ["/", "/account", "/sign-in", "/u/eve/plain", "/u/embed/x", "/docs"]) {
        expect(await frameIn(page, stage.url + path)).toBe("refused")
      }
      for (const [path, text] of [
        ["/embed/eve/plain", "eve/plain"],
        ["/embed/ada/target", "Not found"],
      ] as const) {
        const frame = await frameIn(page, stage.url + path)
        if (frame === "refused") throw new Error(`${path} was refused`)
        await frame.getByText(text).first().waitFor()
        if (text === "Not found") continue
        await frame.locator(".cm-content").filter({ hasText: "export default 1" }).waitFor()
        expect(await frame.getByRole("link", { name: text }).getAttribute("target")).toBe("_blank")
      }
      await page.close()
      // Even where the cookie is sent, it has no effect.
      await tab.page.goto("/embed/ada/target")
      await tab.page.getByRole("heading", { name: "Not found" }).waitFor()
      expect(await tab.page.getByRole("button", { name: "Account of ada" }).count()).toBe(0)
      tab.problems.splice(0)
    })

    test("cannot sign a user in to another account", async () => {
      const { ada, elsewhere, eve, open } = at()
      const { url } = await eve.client.createSignInLink()
      for (const isSignedIn of [true, false]) {
        await using other = await open(isSignedIn ? ada : undefined)
        const cookies = await other.context.cookies()
        const follow = async () => {
          await other.page.goto(elsewhere.url)
          await other.page.evaluate(
            (href) =>
              document.body.append(
                Object.assign(document.createElement("a"), { href, textContent: "prize" }),
              ),
            url,
          )
          await other.page.getByText("prize").click()
        }
        // Links from a mail program open without an initiator.
        for (const open of [follow, () => other.page.goto(url)]) {
          await open()
          await other.page.getByRole("button", { name: "Sign in as eve" }).waitFor()
          expect(await other.page.getByText("You are already signed in as ada").count()).toBe(
            isSignedIn ? 1 : 0,
          )
          expect(await other.context.cookies()).toEqual(cookies)
        }
        if (isSignedIn) await other.page.getByRole("button", { name: "Continue as ada" }).click()
        if (isSignedIn) await other.page.getByRole("button", { name: "Account of ada" }).waitFor()
      }
    })

    test("cannot plant the session of another user", async () => {
      const { ada, eve, open, stage } = at()
      await using attacker = await open(eve)
      const [planted] = await attacker.context.cookies()
      if (!planted) throw new Error("there is no cookie to plant")
      await using victim = await open()
      // A page on a shared parent domain can set this cookie over http. Its path makes it another
      // cookie, which is sent before the app's own.
      const plant = (path: string) => victim.context.addCookies([{ ...planted, path }])
      await plant("/")
      await victim.page.goto("/account")
      await victim.page.getByText("Sign in to see this").waitFor()
      expect(await victim.page.getByRole("button", { name: "Account of eve" }).count()).toBe(0)
      await victim.page.getByLabel("Token").fill(ada.token)
      await victim.page.getByRole("button", { name: "Sign in" }).click()
      await victim.page.getByRole("button", { name: "Account of ada" }).waitFor()
      // Beside the real session it has no effect.
      await plant("/v1")
      expect((await victim.context.cookies(`${stage.url}/v1/me`)).length).toBe(2)
      await victim.page.goto("/account")
      await victim.page.getByRole("button", { name: "Account of ada" }).waitFor()
      // Instead of the real one it signs the user out, and not in to another account.
      await victim.context.clearCookies()
      await plant("/")
      await victim.page.goto("/account")
      await victim.page.getByText("Sign in to see this").waitFor()
    })

    test("cannot choose the session of a sign-in", async () => {
      const { ada, eve, open, stage } = at()
      await using attacker = await open(eve)
      const [planted] = await attacker.context.cookies()
      await using victim = await open()
      await victim.context.addCookies([
        planted ?? { name: "hamlet_session", value: "planted", url: stage.url },
      ])
      await victim.page.goto("/sign-in")
      await victim.page.getByLabel("Token").fill(ada.token)
      await victim.page.getByRole("button", { name: "Sign in" }).click()
      await victim.page.getByRole("button", { name: "Account of ada" }).waitFor()
      const [cookie] = await victim.context.cookies()
      expect(cookie?.value).not.toBe(planted?.value)
      await attacker.page.goto("/account")
      await attacker.page
        .getByRole("button", { name: "Account of eve" })
        .or(attacker.page.getByText("Sign in to see this"))
        .first()
        .waitFor()
      expect(await attacker.page.getByRole("button", { name: "Account of ada" }).count()).toBe(0)
    })
  })
}

/** Frames a page of the app: that it was refused, or the frame, which only the test can read. */
async function frameIn(page: Page, url: string): Promise<"refused" | Frame> {
  const settled = page
    .waitForEvent("frameattached")
    .then((frame) => frame.waitForLoadState().then(() => frame))
  await page.evaluate(
    (src) =>
      document.body.append(
        Object.assign(document.createElement("iframe"), { src, width: 600, height: 300 }),
      ),
    url,
  )
  const frame = await settled
  await frame.waitForURL((at) => at.protocol === "chrome-error:" || at.href === url)
  return frame.url().startsWith("chrome-error:") ? "refused" : frame
}
