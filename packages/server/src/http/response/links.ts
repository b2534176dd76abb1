import { toFileMailAddress, toMailAddress } from "../../domain/mail/inbound/mail-address.ts"

/** Absolute URLs. They are built from the configured base URL, never from a Host header. */
export type Links = ReturnType<typeof createLinks>

const hostLabelCharsMax = 63

/**
 * `valsDomain` is the host and port under which each val has its own host name, `mailDomain` the
 * domain of mail addresses if the server receives mail.
 */
export function createLinks(baseUrl: string, valsDomain: string, mailDomain?: string) {
  const scheme = new URL(baseUrl).protocol
  const labelled = (label: string) => `${scheme}//${label}.${valsDomain}`
  return {
    baseUrl,
    user: (id: string) => `${baseUrl}/v1/users/${id}`,
    userPage: (username: string) => `${baseUrl}/u/${username}`,
    run: (id: string) => `${baseUrl}/v1/runs/${id}`,
    email: (id: string) => `${baseUrl}/v1/me/emails/${id}`,
    webhook: (id: string) => `${baseUrl}/v1/me/webhooks/${id}`,
    // After the hash, so that browsers do not send it to servers and it appears in no log.
    signIn: (code: string) => `${baseUrl}/sign-in#code=${code}`,
    invitation: (code: string) => `${baseUrl}/invitation#code=${code}`,
    joinOrganisation: (code: string) => `${baseUrl}/join#code=${code}`,
    val: (id: string) => `${baseUrl}/v1/vals/${id}`,
    /** A val without its files. */
    folder: (id: string) => `${baseUrl}/v2/vals/${id}`,
    folderPage: (username: string, name: string) => `${baseUrl}/x/${username}/${name}`,
    file: (id: string) => `${baseUrl}/v2/files/${id}`,
    valPage: (username: string, name: string) => `${baseUrl}/u/${username}/${name}`,
    module: (username: string, name: string) => `${baseUrl}/v/${username}/${name}`,
    endpoint(val: LinkedVal) {
      // A host label must not end with a dash, and a val is also found with an underscore instead.
      const label = `${val.ownerName}-${val.name}`.toLowerCase().replace(/-$/, "_")
      // The id replaces a name that is no host label, because it is too long or has a dot.
      // Underscores are kept: browsers and servers accept them.
      const isLabel = label.length <= hostLabelCharsMax && !label.includes(".")
      return labelled(isLabel ? label : val.id.replaceAll("-", ""))
    },
    /** The id alone finds the file; a name that leaves no room for it is left out. */
    fileEndpoint({ ownerName }: Pick<LinkedVal, "ownerName">, id: string) {
      const bare = id.replaceAll("-", "")
      const label = `${ownerName.toLowerCase()}--${bare}`
      return labelled(label.length <= hostLabelCharsMax ? label : bare)
    },
    fileMailAddress: (id: string) =>
      mailDomain === undefined ? undefined : toFileMailAddress(mailDomain, id),
    /** The mail address of a val; undefined on a server that receives no mail. */
    mailAddress: (val: LinkedVal) =>
      mailDomain === undefined ? undefined : toMailAddress(mailDomain, val),
    /** The URL whose host name begins with the label. */
    labelled,
  }
}

/** The part of a val that its addresses need. */
interface LinkedVal {
  readonly id: string
  readonly ownerName: string
  readonly name: string
}
