import type { Option } from "./option.ts"

/** The settings of outgoing mail. */
export const emailOptions = [
  {
    env: "HAMLET_SMTP_URL",
    default: "",
    meaning:
      "Mail server that sends the mail of vals and the server's notices: `smtp://USER:PASSWORD@HOST:587`, or `smtps://` for TLS from the first byte. With `?tls=required`, `if-offered` or `never` it says whether `smtp://` is upgraded with STARTTLS; the default is `required` with a login, else `if-offered`. Empty: the server sends no mail.",
  },
  {
    env: "HAMLET_SMTP_CA",
    default: "",
    meaning: "PEM file of additional certificate authorities for that mail server.",
  },
  {
    env: "HAMLET_MAIL_DOMAIN",
    default: "",
    meaning: "Domain of the vals' email addresses, `{user}.{val}@{domain}`.",
  },
  {
    env: "HAMLET_MAIL_FROM",
    default: "no-reply@HAMLET_MAIL_DOMAIN",
    meaning:
      "Address of the server's own messages. Without HAMLET_MAIL_DOMAIN, the sender of all mail.",
  },
  {
    env: "HAMLET_MAIL_FROM_DOMAINS",
    default: "",
    meaning:
      "Domains of further addresses that any val may name as its sender, separated by commas; `*` means all. Empty: a val sends from addresses of its owner only.",
  },
  {
    env: "HAMLET_MAIL_DKIM_SELECTOR",
    default: "",
    meaning:
      "Selector of the DKIM key: its public part is in the DNS at `{selector}._domainkey.{domain}`. Empty: mail is not signed here.",
  },
  {
    env: "HAMLET_MAIL_DKIM_KEY",
    default: "",
    meaning: "PEM file of the private DKIM key.",
  },
  {
    env: "HAMLET_MAILS_PER_DAY",
    default: "500",
    meaning:
      "Emails of one user in 24 hours, or `none`. Each recipient counts. A quota of the user takes precedence.",
  },
  {
    env: "HAMLET_MAIL_MB_PER_DAY",
    default: "100",
    meaning: "Megabytes of the emails of one user in 24 hours, or `none`.",
  },
  {
    env: "HAMLET_MAIL_TO",
    default: "anyone",
    meaning:
      "To whom vals send mail: `anyone`, or `owner` for the confirmed address of their owner only.",
  },
  {
    env: "HAMLET_MAIL_RECIPIENTS_MAX",
    default: "50",
    meaning: "Recipients of one email, at most 100.",
  },
  {
    env: "HAMLET_MAIL_MB_MAX",
    default: "25",
    meaning: "Largest mail that is received or sent, in megabytes; at most 40 are sent.",
  },
] as const satisfies readonly Option[]
