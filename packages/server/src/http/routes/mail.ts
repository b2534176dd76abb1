import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { done, json } from "../response/api-response.ts"
import { listOf } from "../response/page.ts"
import { toAccountView, toEmailView, toProfileView } from "../response/views.ts"

/** Outgoing mail, and the addresses of users. */
export function emailHandlers({ outgoingMail, emailAddresses, api: { links } }: Nouns) {
  return {
    sendEmail: async ({ caller, body, runId }) =>
      json(202, await outgoingMail.send(caller, body, runId)),
    listMyEmails: listOf(
      links,
      ({ caller, query }) => outgoingMail.list(caller, query.status, query),
      toEmailView,
    ),
    getMyEmail: async ({ caller, params }) =>
      json(200, toEmailView(await outgoingMail.get(caller, params.email_id), links)),
    resendEmail: async ({ caller, params }) =>
      json(202, toEmailView(await outgoingMail.resend(caller, params.email_id), links)),
    sendEmailCode: done(({ caller }) => emailAddresses.sendCode(caller)),
    confirmEmail: async ({ caller, body }) =>
      json(200, toProfileView(await emailAddresses.confirm(caller, body.code), links)),
    putUserEmail: async ({ caller, params, body }) =>
      json(200, toAccountView(await emailAddresses.set(caller, params.user_id, body.email), links)),
  } satisfies Partial<Handlers>
}
