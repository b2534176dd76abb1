import { confirmEmail, sendEmailCode, setUserEmail } from "../../domain/accounts/email-address.ts"
import { getEmail, listEmails } from "../../domain/emails/emails.ts"
import { resendEmail, sendEmail } from "../../domain/emails/send-email.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toAccountView, toEmailView, toProfileView } from "../response/views.ts"

/** Outgoing mail, and the addresses of users. */
export function emailHandlers({ services, accounts, api: { links } }: Nouns) {
  return {
    sendEmail: async ({ caller, body, runId }) =>
      json(202, await sendEmail(services, caller, body, runId)),
    listMyEmails: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await listEmails(services, caller, query.status, query),
        toEmailView,
      ),
    getMyEmail: async ({ caller, params }) =>
      json(200, toEmailView(await getEmail(services, caller, params.email_id), links)),
    resendEmail: async ({ caller, params }) =>
      json(202, toEmailView(await resendEmail(services, caller, params.email_id), links)),
    sendEmailCode: async ({ caller }) => {
      await sendEmailCode(accounts, caller)
      return noContent()
    },
    confirmEmail: async ({ caller, body }) =>
      json(200, toProfileView(await confirmEmail(accounts, caller, body.code), links)),
    putUserEmail: async ({ caller, params, body }) =>
      json(
        200,
        toAccountView(await setUserEmail(accounts, caller, params.user_id, body.email), links),
      ),
  } satisfies Partial<Handlers>
}
