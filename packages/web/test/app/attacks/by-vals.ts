import { describe, expect, test } from "bun:test"
import type { AttackScene } from "./attack-scene.ts"
import { forgeRequests, readAccount } from "./attempts.ts"

/** Attacks by the pages of vals, which are programs of other users. */
export function attackByVals(at: () => AttackScene): void {
  describe("by a val's own page", () => {
    test("in the preview it reaches neither the app nor its cookies, and cannot navigate it", async () => {
      const { ada, canary, findFrame, stage, tab, target } = at()
      const before = await readAccount(ada)
      await tab.page.goto("/u/eve/reaching")
      const frame = await findFrame()
      const reached = await frame.evaluate(async (app) => {
        const attempt = (name: string, action: () => unknown) => {
          try {
            const value = action()
            return value === undefined || value === null ? "" : `${name}: ${String(value)}`
          } catch {
            return ""
          }
        }
        for (const message of [{ type: "navigate", to: "/account" }, "reload", { code: "x" }])
          parent.postMessage(message, "*")
        const found = [
          attempt("document", () => parent.document.title),
          attempt("top", () => top?.document.cookie),
          attempt("storage", () => parent.localStorage.length),
          attempt("function", () =>
            (parent as unknown as { fetch(path: string): unknown }).fetch("/v1/me"),
          ),
          attempt("frame", () => frameElement?.tagName),
          attempt("opener", () => window.opener),
          attempt("cookie", () =>
            document.cookie.includes("hamlet") ? document.cookie : undefined,
          ),
        ]
        attempt("location", () => {
          ;(top as Window).location.href = "http://elsewhere.invalid/"
        })
        attempt("hash", () => {
          ;(parent as Window).location.replace(`${app}/sign-in#code=x`)
        })
        return found.filter((one) => one !== "")
      }, stage.url)
      expect(reached).toEqual([])
      const forged = await forgeRequests(frame, stage.url, target)
      expect(
        forged.filter(({ outcome }) => /^2\d\d/.test(outcome) || outcome.includes("ada")),
      ).toEqual([])
      expect(tab.page.url()).toBe(`${stage.url}/u/eve/reaching`)
      expect(await readAccount(ada)).toEqual(before)
      await tab.page.getByRole("button", { name: "Account of ada" }).waitFor()
      canary.take()
      tab.problems.splice(0)
    })

    test("on its own it cannot reach the app by a window, a cookie or a worker", async () => {
      const { canary, reaching, stage, tab } = at()
      const [cookie] = await tab.context.cookies(stage.url)
      const endpoint = new URL(reaching)
      const page = await tab.context.newPage()
      await page.goto(`${endpoint}cookies`)
      const opening = tab.context.waitForEvent("page")
      const found = await page.evaluate(async (app) => {
        for (const domain of ["localhost", ".localhost", location.hostname, ""]) {
          // biome-ignore lint/suspicious/noDocumentCookie: this is the attack
          document.cookie = `hamlet_session=planted; Path=/${domain === "" ? "" : `; Domain=${domain}`}`
        }
        const other = window.open(`${app}/account`)
        const registration = await navigator.serviceWorker
          ?.register("/worker.js", { scope: "/" })
          .catch(() => undefined)
        return {
          cookie: document.cookie,
          worker: registration?.scope ?? "",
          hasWindow: other !== null,
        }
      }, stage.url)
      expect(found.worker === "" || found.worker.startsWith(endpoint.origin)).toBe(true)
      expect(await tab.context.cookies(stage.url)).toEqual(cookie ? [cookie] : [])
      const opened = await opening
      await opened.getByRole("heading", { name: "Account" }).waitFor()
      expect(
        await opened.evaluate(async () => [
          window.opener,
          navigator.serviceWorker.controller,
          (await navigator.serviceWorker.getRegistrations()).length,
        ]),
      ).toEqual([null, null, 0])
      await opened.close()
      await page.close()
      canary.take()
      tab.problems.splice(0)
    })
  })
}
