import { expect, test } from "bun:test"
import type { AttackScene } from "./attack-scene.ts"

/** The security headers of every page. */
export function checkPolicy(at: () => AttackScene): void {
  test("find a CSP on every page that allows only the app's own scripts", async () => {
    const { canary, eve, openTyped, stage, tab } = at()
    await eve.client.createVal({
      name: "module",
      code: "export default canary('module')\n",
      privacy: "public",
    })
    for (const path of [
      "/",
      "/sign-in",
      "/new",
      "/search",
      "/runs",
      "/runs/x",
      "/account",
      "/account/tokens",
      "/u/eve",
      "/u/eve/plain",
      "/embed/eve/plain",
      "/docs",
    ]) {
      const { headers } = await fetch(stage.url + path)
      const policy = new Map(
        (headers.get("content-security-policy") ?? "")
          .split("; ")
          .map((part) => [part.split(" ")[0], part.split(" ").slice(1).join(" ")]),
      )
      expect(policy.get("default-src")).toBe("'none'")
      expect(policy.get("script-src") ?? "").not.toMatch(/unsafe|data:|blob:|\*|https?:/)
      expect(policy.get("base-uri")).toBe("'none'")
      expect(policy.get("form-action")).toBe("'none'")
      expect(policy.get("frame-ancestors")).toBe(path.startsWith("/embed/") ? "*" : "'none'")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(policy.get("script-src")).toBe(`${new URL(stage.url).host}/assets/`)
      expect(policy.get("worker-src")).toBe(`${new URL(stage.url).host}/assets/`)
      expect(policy.get("require-trusted-types-for")).toBe("'script'")
      expect(policy.get("trusted-types")).toBe("dompurify hamlet")
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin")
    }
    // The code of vals is served on the app's origin: injected markup must not load it.
    await tab.page.goto("/")
    const imported = await tab.page.evaluate(() =>
      import(`${location.origin}/v/eve/module`).then(
        () => "imported",
        () => "refused",
      ),
    )
    expect(imported).toBe("refused")
    await using typed = await openTyped()
    await typed.page.goto("/")
    const worker = await typed.page.evaluate(
      () =>
        new Promise((resolve) => {
          try {
            const started = new Worker("/v/eve/module")
            started.onerror = () => resolve("refused")
            started.onmessage = () => resolve("started")
          } catch (error) {
            // A browser without workers would refuse nothing.
            resolve(error instanceof TypeError ? "refused" : String(error))
          }
        }),
    )
    expect(worker).toBe("refused")
    expect(canary.take()).toEqual([])
    tab.problems.splice(0)
  })
}
