import type { Option } from "../option.ts"

/** The settings of sign-in with an OpenID Connect provider. */
export const oidcOptions = [
  {
    env: "HAMLET_OIDC_ISSUER",
    default: "",
    meaning:
      "OpenID Connect provider with which users may sign in: its issuer, an https address (http for a provider on this machine). Register `{HAMLET_BASE_URL}/sign-in/provider` there as the redirect URI. See docs/administration.md.",
  },
  {
    env: "HAMLET_OIDC_CLIENT_ID",
    default: "",
    meaning: "Client id that the provider has given to this server.",
  },
  {
    env: "HAMLET_OIDC_CLIENT_SECRET",
    default: "",
    meaning: "Client secret of this server. Empty: a public client, which PKCE alone protects.",
  },
  {
    env: "HAMLET_OIDC_NAME",
    default: "host of the issuer",
    meaning: "Name of the provider on the sign-in page.",
  },
  {
    env: "HAMLET_OIDC_SCOPES",
    default: "openid email profile",
    meaning: "Scopes that are requested from the provider, with `openid`, separated by spaces.",
  },
  {
    env: "HAMLET_OIDC_SIGN_UP",
    default: "invited",
    meaning:
      "Who may create an account after the first sign-in with the provider: `invited` (who has an invitation), `all`, or `none`.",
  },
  {
    env: "HAMLET_OIDC_DOMAINS",
    default: "",
    meaning:
      "Domains of email addresses, separated by commas: who has an address there that the provider has verified needs no invitation.",
  },
  {
    env: "HAMLET_OIDC_LINK_EMAIL",
    default: "no",
    meaning:
      "Whether a verified address at the provider signs in the existing user who has confirmed the same address here: `yes` or `no`. Say `yes` only if you trust the provider to verify addresses.",
  },
] as const satisfies readonly Option[]
