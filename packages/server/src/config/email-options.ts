import type { Option } from "./option.ts"

/** The settings of mail, first of outgoing and then of incoming mail. */
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
    meaning:
      "Domain of the vals' email addresses, `{user}.{val}@{domain}`. To receive mail it needs an MX record, see docs/mail.md.",
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
      "Domains of further addresses that any val may name as its sender, separated by commas; `*` means all but `HAMLET_MAIL_DOMAIN`. Empty: a val sends from addresses of its owner only.",
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
  {
    env: "HAMLET_SMTP_PORT",
    default: "",
    meaning:
      "Port on which the server receives mail for vals of type `email`; other mail servers use 25. `0` means any free port. Empty: it receives no mail.",
  },
  {
    env: "HAMLET_SMTP_HOST",
    default: "HAMLET_HOST",
    meaning: "Address on which it receives mail. `0.0.0.0` means every interface.",
  },
  {
    env: "HAMLET_SMTP_NAME",
    default: "HAMLET_MAIL_DOMAIN",
    meaning: "Name with which it introduces itself to other mail servers, that of the MX record.",
  },
  {
    env: "HAMLET_SMTP_TLS_CERT",
    default: "",
    meaning:
      "PEM file with the certificate for STARTTLS, and the chain to its authority. It is read again when it changes. Empty: mail is received unencrypted.",
  },
  {
    env: "HAMLET_SMTP_TLS_KEY",
    default: "",
    meaning: "PEM file with the private key of that certificate.",
  },
  {
    env: "HAMLET_MAIL_PER_ADDRESS",
    default: "300",
    meaning: "Mails per minute from one IP address, or `none`.",
  },
  {
    env: "HAMLET_MAIL_PER_ACCOUNT",
    default: "600",
    meaning: "Mails per minute to the vals of one user, or `none`.",
  },
  {
    env: "HAMLET_MAIL_GENERATED",
    default: "refuse",
    meaning:
      "Mail that a program has created by itself (`Auto-Submitted: auto-generated`), such as alerts: `refuse` or `accept`. Automatic replies are always refused.",
  },
  {
    env: "HAMLET_MAIL_DNS",
    default: "those of the machine",
    meaning:
      "IP addresses of the name servers that are asked about senders (SPF, DKIM, DMARC), separated by commas.",
  },
] as const satisfies readonly Option[]
