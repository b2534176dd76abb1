import type { Frame, Page } from "playwright-core"
import type { Person } from "../../../dev/app-stage.ts"

/** The outcome of a cross-origin request. */
export interface Attempt {
  readonly name: string
  readonly outcome: string
}

/** The data that a request with the session of the user could change. */
export async function readAccount({ client }: Person): Promise<unknown> {
  const [me, vals, tokens, secrets, sessions, runs, likes] = await Promise.all([
    client.getMe(),
    client.listMyVals({ limit: 100 }),
    client.listTokens({}),
    client.listSecrets({}),
    client.listSessions({}),
    client.listMyRuns({}),
    client.listMyLikes({}),
  ])
  const ids = ({ data }: { readonly data: readonly { readonly id: string }[] }) =>
    data.map(({ id }) => id).sort()
  return {
    bio: me.bio,
    vals: vals.data.map(({ id, name, version, privacy, likeCount }) => ({
      id,
      name,
      version,
      privacy,
      likeCount,
    })),
    tokens: ids(tokens),
    sessions: ids(sessions),
    runs: ids(runs),
    likes: ids(likes),
    secrets: secrets.data.map(({ name }) => name),
  }
}

/** Sends API requests from a page of another origin, and returns their outcomes. */
export async function forgeRequests(
  from: Page | Frame,
  app: string,
  target: { readonly valId: string; readonly valName: string },
): Promise<readonly Attempt[]> {
  return from.evaluate(
    async ({ app, valId, valName }) => {
      const json = { "content-type": "application/json" }
      const session = { "x-hamlet-session": "1" }
      const bodies: readonly (readonly [method: string, path: string, body?: unknown])[] = [
        ["GET", "/v1/me"],
        ["GET", "/v1/me/vals"],
        ["GET", `/v1/vals/${valId}`],
        ["GET", `/v1/run/${valName}`],
        ["POST", `/v1/run/${valName}`, {}],
        ["POST", "/v1/vals", { code: "export default 1", name: "planted" }],
        ["POST", `/v1/vals/${valId}/versions`, { code: "export default 'changed'" }],
        ["POST", `/v1/vals/${valId}/runs`, { args: [] }],
        ["POST", "/v1/me/tokens", { name: "stolen", scopes: ["user:write"] }],
        ["POST", "/v1/me/sign-in-links"],
        ["PUT", "/v1/me", { bio: "changed" }],
        ["PUT", "/v1/me/secrets/PLANTED", { value: "x" }],
        ["PUT", `/v1/vals/${valId}/like`],
        ["DELETE", `/v1/vals/${valId}`],
        ["DELETE", "/v1/me/sessions"],
        ["DELETE", "/v1/me/session"],
      ]
      const ways: Readonly<Record<string, RequestInit>> = {
        plain: { credentials: "include", mode: "no-cors" },
        simple: { credentials: "include", headers: { "content-type": "text/plain" } },
        preflighted: { credentials: "include", headers: json },
        session: { credentials: "include", headers: { ...json, ...session } },
        omitted: { credentials: "omit", headers: { ...json, ...session } },
      }
      const attempts: { name: string; outcome: string }[] = []
      for (const [way, init] of Object.entries(ways))
        for (const [method, path, body] of bodies) {
          const name = `${way} ${method} ${path}`
          const sent = method === "GET" || body === undefined ? {} : { body: JSON.stringify(body) }
          const outcome = await fetch(app + path, { method, ...init, ...sent }).then(
            async (response) =>
              response.type === "opaque"
                ? "opaque"
                : `${response.status} ${(await response.text()).slice(0, 200)}`,
            () => "refused by the browser",
          )
          attempts.push({ name, outcome })
        }
      return attempts
    },
    { app, ...target },
  )
}

/**
 * Posts forms and loads images, scripts and styles, which browsers allow across origins, and waits
 * for the responses.
 */
export async function forgeLoads(
  page: Page,
  app: string,
  target: { readonly valId: string; readonly valName: string },
  token: string,
): Promise<readonly string[]> {
  const paths = [`/v1/run/${target.valName}`, "/v1/me", `/v1/vals/${target.valId}`, "/v1/me/vals"]
  const loaded = await page.evaluate(
    async ({ app, paths }) => {
      const load = (tag: "img" | "script" | "link" | "object", url: string) =>
        new Promise<string>((resolve) => {
          const element = document.createElement(tag)
          element.onload = () => resolve(`${tag} loaded ${url}`)
          element.onerror = () => resolve("")
          if (element instanceof HTMLLinkElement)
            Object.assign(element, { rel: "stylesheet", href: url })
          else if (element instanceof HTMLObjectElement) element.data = url
          else element.src = url
          document.body.append(element)
        })
      const outcomes = await Promise.all(
        paths.flatMap((path) =>
          (["img", "script", "link"] as const).map((tag) => load(tag, app + path)),
        ),
      )
      return outcomes.filter((outcome) => outcome !== "")
    },
    { app, paths },
  )
  const forms = [
    ["/v1/sessions", JSON.stringify({ token })],
    ["/v1/vals", JSON.stringify({ code: "export default 1", name: "planted" })],
    [`/v1/run/${target.valName}`, "{}"],
    ["/v1/me/tokens", JSON.stringify({ name: "stolen", scopes: ["user:write"] })],
  ] as const
  for (const [path, body] of forms) await postForm(page, app + path, body)
  return loaded
}

/** A form of type `text/plain` can send almost any body: `{"x":1,"y":"=` and so on. */
async function postForm(page: Page, url: string, body: string): Promise<void> {
  const received = page.waitForResponse(
    (response) => response.url() === url && response.request().method() === "POST",
  )
  await page.evaluate(
    ({ url, body }) => {
      const frame = Object.assign(document.createElement("iframe"), {
        name: `frame${Math.random()}`,
      })
      const form = Object.assign(document.createElement("form"), {
        action: url,
        method: "post",
        enctype: "text/plain",
        target: frame.name,
      })
      const field = Object.assign(document.createElement("input"), {
        name: `${body.slice(0, -1)},"z":"`,
        value: `"}`,
      })
      form.append(field)
      document.body.append(frame, form)
      form.submit()
    },
    { url, body },
  )
  const { status } = { status: (await received).status() }
  if (status < 400) throw new Error(`${url} took a form: ${status}`)
}
