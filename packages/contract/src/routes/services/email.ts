import { route } from "../../route.ts"
import { emailBody, sentEmail } from "../../schemas/email.ts"

/** Mail of the caller's vals. */
export const emailRoutes = {
  sendEmail: route({
    method: "post",
    path: "/v1/email",
    tag: "Services",
    summary: "Send an email; without recipients it goes to the caller",
    auth: "required",
    scope: "email:write",
    body: emailBody,
    responses: { 202: sentEmail },
    errors: ["mail_unavailable"],
  }),
}
