import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import Provider from "oidc-provider"

/** A real OpenID Connect provider on this machine, for tests. */
export interface OidcTestProvider extends AsyncDisposable {
  readonly issuer: string
  /** The settings of a server that uses it. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Who signs in at the next visit, without a question. `deny` stands for a person who cancels. An
   * address that begins with `unverified` is not verified.
   */
  account: string
}

const oidcClient = { id: "hamlet", secret: "a secret & with % signs" }

/** Starts the provider. Every person has the address `{name}@corp.example`. */
export async function openOidcProvider(): Promise<OidcTestProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = createProvider(issuer)
  const callback = provider.callback()
  const opened = {
    issuer,
    env: {
      HAMLET_OIDC_ISSUER: issuer,
      HAMLET_OIDC_CLIENT_ID: oidcClient.id,
      HAMLET_OIDC_CLIENT_SECRET: oidcClient.secret,
      HAMLET_OIDC_NAME: "Corp",
    },
    account: "ada",
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.startsWith("/interaction/")) {
      void callback(request, response)
      return
    }
    const result =
      opened.account === "deny"
        ? { error: "access_denied", error_description: "<b>no</b>" }
        : { login: { accountId: opened.account } }
    provider
      .interactionFinished(request, response, result, { mergeWithLastSubmission: false })
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  return opened
}

function createProvider(issuer: string): Provider {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: oidcClient.id,
        client_secret: oidcClient.secret,
        redirect_uris: ["http://localhost/sign-in/provider"],
      },
    ],
    cookies: { keys: ["only for tests"] },
    claims: { email: ["email", "email_verified"], profile: ["preferred_username"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@corp.example`,
        email_verified: !id.startsWith("unverified"),
        preferred_username: id,
      }),
    }),
    // Without a page that asks for consent.
    async loadExistingGrant(context) {
      const { client, session } = context.oidc
      if (!client || !session?.accountId) return undefined
      const grant = new provider.Grant({
        clientId: client.clientId,
        accountId: session.accountId,
      })
      grant.addOIDCScope("openid email profile")
      await grant.save()
      return grant
    },
  })
  // The port of the server under test is not known yet.
  provider.Client.prototype.redirectUriAllowed = (uri: string) =>
    new URL(uri).pathname === "/sign-in/provider"
  return provider
}

/** Signs in at the provider as a new browser would. Returns where it sends the browser back to. */
export async function followSignIn(url: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next = url
  for (let step = 0; step < 10; step++) {
    const response = await fetch(next, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get("location")
    if (location === null)
      throw new Error(`the provider responds ${response.status}: ${await response.text()}`)
    next = new URL(location, next).href
    if (new URL(next).pathname === "/sign-in/provider") return next
  }
  throw new Error("the provider redirects in a circle")
}
