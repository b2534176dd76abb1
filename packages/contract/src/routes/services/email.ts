import { route } from "../../route.ts"
import { account } from "../../schemas/administration.ts"
import {
  confirmEmailBody,
  emailBody,
  emailRecord,
  emailsQuery,
  putUserEmailBody,
  sentEmail,
} from "../../schemas/email.ts"
import { page, profile } from "../../schemas/records.ts"

/** Mail of the caller's vals, and the caller's own address. */
export const emailRoutes = {
  sendEmail: route("Mail", "post /v1/email", {
    summary: "Send an email; without recipients it goes to the caller",
    scope: "email:write",
    body: emailBody,
    isMailBody: true,
    responses: { 202: sentEmail },
    errors: ["mail_unavailable", "email_unverified", "quota_exceeded"],
  }),
  listMyEmails: route("Mail", "get /v1/me/emails", {
    summary: "Outgoing emails of the caller's account, newest first",
    scope: "user:read",
    query: emailsQuery,
    responses: { 200: page(emailRecord) },
  }),
  getMyEmail: route("Mail", "get /v1/me/emails/{email_id}", {
    summary: "An outgoing email of the caller's account",
    scope: "user:read",
    responses: { 200: emailRecord },
  }),
  resendEmail: route("Mail", "post /v1/me/emails/{email_id}/resend", {
    summary:
      "Send a failed email again, to the recipients that did not receive it; it counts as a new one",
    scope: "email:write",
    responses: { 202: emailRecord },
    errors: ["mail_unavailable", "email_not_failed", "quota_exceeded"],
  }),
  sendEmailCode: route("Mail", "post /v1/me/email/code", {
    summary: "Send a code to the caller's email address, which confirms the address",
    isPersonal: true,
    scope: "user:write",
    responses: { 204: null },
    errors: ["mail_unavailable", "email_verified", "email_missing"],
  }),
  confirmEmail: route("Mail", "post /v1/me/email/confirm", {
    summary: "Confirm the caller's email address with the code that was sent to it",
    isPersonal: true,
    scope: "user:write",
    body: confirmEmailBody,
    responses: { 200: profile },
    errors: ["invalid_email_code"],
  }),
  putUserEmail: route("Administration", "put /v1/users/{user_id}/email", {
    summary: "Set the email address of a user, which then needs no confirmation",
    scope: "admin",
    body: putUserEmailBody,
    responses: { 200: account },
  }),
}
