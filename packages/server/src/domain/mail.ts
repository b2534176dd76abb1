import type { EmailBody } from "@hamlet/contract"
import type { Caller } from "./access.ts"
import { AppError } from "./app-error.ts"

/** Sends an email for the caller. No server can do so yet. */
export async function sendEmail(
  _caller: Caller,
  _email: EmailBody,
): Promise<{ readonly message: string }> {
  throw new AppError(
    "mail_unavailable",
    "Cannot send the email: mail is not configured on this server, and this version has no setting for it",
  )
}
