import { route } from "../../route.ts"
import {
  identity,
  providerAttempt,
  providerResponseBody,
  providerSignIn,
  providerSignUpBody,
} from "../../schemas/accounts/identities.ts"
import { pageQuery } from "../../schemas/inputs.ts"
import { page } from "../../schemas/records.ts"
import { newSession } from "../../schemas/sessions.ts"

/** Sign-in with an OpenID Connect provider. */
export const identityRoutes = {
  startProviderSignIn: route("Sessions", "post /v1/oidc/sign-ins", {
    summary: "Begin to sign in with the OpenID Connect provider; returns the URL of its page",
    auth: "none",
    isSignIn: true,
    responses: { 200: providerAttempt },
    errors: ["oidc_unavailable", "oidc_failed"],
  }),
  finishProviderSignIn: route("Sessions", "post /v1/oidc/sessions", {
    summary:
      "Sign a browser in with the provider's response; sets a session cookie if the person has an account",
    auth: "none",
    isSignIn: true,
    body: providerResponseBody,
    responses: { 200: providerSignIn },
    errors: [
      "oidc_unavailable",
      "oidc_failed",
      "sign_in_refused",
      "sign_up_refused",
      "user_suspended",
    ],
  }),
  signUpWithProvider: route("Sessions", "post /v1/oidc/users", {
    summary: "Create the account of a person who has signed in with the provider, and sign in",
    auth: "none",
    isSignIn: true,
    body: providerSignUpBody,
    responses: { 200: newSession },
    errors: [
      "oidc_unavailable",
      "sign_in_refused",
      "sign_up_refused",
      "invitation_not_found",
      "username_taken",
      "identity_taken",
      "one_user_only",
    ],
  }),
  listIdentities: route("Sessions", "get /v1/me/identities", {
    summary: "The accounts at the OpenID Connect provider that sign the caller in, newest first",
    isPersonal: true,
    scope: "user:read",
    query: pageQuery,
    responses: { 200: page(identity) },
  }),
  linkIdentity: route("Sessions", "post /v1/me/identities", {
    summary:
      "Let an account at the provider sign the caller in, with the scopes of the caller; sends the provider's response",
    isPersonal: true,
    scope: "user:write",
    body: providerResponseBody,
    responses: { 200: identity },
    errors: [
      "oidc_unavailable",
      "oidc_failed",
      "sign_in_refused",
      "identity_taken",
      "too_many_identities",
      "invalid_token",
    ],
  }),
  unlinkIdentity: route("Sessions", "delete /v1/me/identities/{identity_id}", {
    summary: "The account at the provider no longer signs the caller in; sessions stay",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
  }),
}
