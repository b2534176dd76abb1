import { toFileMailAddress, toMailAddress } from "../../domain/mail/inbound/mail-address.ts"

/** Absolute URLs. They are built from the configured base URL, never from a Host header. */
export interface Links {
  readonly baseUrl: string
  user(id: string): string
  userPage(username: string): string
  val(id: string): string
  /** A val without its files. */
  folder(id: string): string
  folderPage(username: string, name: string): string
  file(id: string): string
  run(id: string): string
  email(id: string): string
  webhook(id: string): string
  signIn(code: string): string
  invitation(code: string): string
  valPage(username: string, name: string): string
  module(username: string, name: string): string
  endpoint(val: { readonly id: string; readonly ownerName: string; readonly name: string }): string
  /** The mail address of a val; undefined on a server that receives no mail. */
  mailAddress(val: Parameters<Links["endpoint"]>[0]): string | undefined
  /** The addresses of a file that has not those of its val. */
  fileEndpoint(id: string): string
  fileMailAddress(id: string): string | undefined
  /** The URL whose host name begins with the label. */
  labelled(label: string): string
}

const hostLabelCharsMax = 63

/**
 * `valsDomain` is the host and port under which each val has its own host name, `mailDomain` the
 * domain of mail addresses if the server receives mail.
 */
export function createLinks(baseUrl: string, valsDomain: string, mailDomain?: string): Links {
  const scheme = new URL(baseUrl).protocol
  const labelled = (label: string) => `${scheme}//${label}.${valsDomain}`
  return {
    baseUrl,
    user: (id) => `${baseUrl}/v1/users/${id}`,
    userPage: (username) => `${baseUrl}/u/${username}`,
    run: (id) => `${baseUrl}/v1/runs/${id}`,
    email: (id) => `${baseUrl}/v1/me/emails/${id}`,
    webhook: (id) => `${baseUrl}/v1/me/webhooks/${id}`,
    // After the hash, so that browsers do not send it to servers and it appears in no log.
    signIn: (code) => `${baseUrl}/sign-in#code=${code}`,
    invitation: (code) => `${baseUrl}/invitation#code=${code}`,
    val: (id) => `${baseUrl}/v1/vals/${id}`,
    folder: (id) => `${baseUrl}/v2/vals/${id}`,
    folderPage: (username, name) => `${baseUrl}/x/${username}/${name}`,
    file: (id) => `${baseUrl}/v2/files/${id}`,
    valPage: (username, name) => `${baseUrl}/u/${username}/${name}`,
    module: (username, name) => `${baseUrl}/v/${username}/${name}`,
    endpoint(val) {
      // A host label must not end with a dash, and a val is also found with an underscore instead.
      const label = `${val.ownerName}-${val.name}`.toLowerCase().replace(/-$/, "_")
      // The id replaces a name that is too long for a host label. Underscores are kept: browsers
      // and servers accept them.
      return labelled(label.length <= hostLabelCharsMax ? label : val.id.replaceAll("-", ""))
    },
    fileEndpoint: (id) => labelled(id.replaceAll("-", "")),
    fileMailAddress: (id) =>
      mailDomain === undefined ? undefined : toFileMailAddress(mailDomain, id),
    mailAddress: (val) => (mailDomain === undefined ? undefined : toMailAddress(mailDomain, val)),
    labelled,
  }
}
