import { domainToASCII } from "node:url"
import type { DKIMResult } from "mailauth"
import { dkimVerify } from "mailauth/lib/dkim/verify"
import { dmarc } from "mailauth/lib/dmarc"
import { type Address, addressParser } from "postal-mime"
import { type MailAuth, type MailSignature, noMailAuth } from "../../domain/mail/inbound/mail.ts"
import type { MailOrigin } from "./reader-messages.ts"
import { replayNames, type SenderNames } from "./sender-records.ts"

/** The names in a header that name servers are asked about before the message is read. */
export async function findSender(header: Buffer, mailFrom: string): Promise<SenderNames> {
  const { headerFrom = [], results = [] } = await dkimVerify(header, {
    resolver: replayNames([]),
    sender: mailFrom,
  })
  const signatures = results.flatMap(({ signingDomain = "", selector = "" }) =>
    signingDomain === "" ? [] : [{ signingDomain, selector }],
  )
  return {
    headerFrom,
    signingDomains: [...new Set(signatures.map(({ signingDomain }) => signingDomain))],
    keyNames: [
      ...new Set(
        signatures.map(({ signingDomain, selector }) =>
          toAsciiName(`${selector}._domainkey.${signingDomain}`),
        ),
      ),
    ],
  }
}

/** The form in which the library asks for a name with letters that are not ASCII. */
function toAsciiName(name: string): string {
  return name
    .split(".")
    .map((label) => (/[^ -~]/.test(label) ? domainToASCII(label.normalize("NFC")) : label))
    .join(".")
}

/**
 * Checks the sender with SPF, DKIM and DMARC. `fromAddress` is the only address in the `From`
 * header: it is what the val reads, and what the checks must be about.
 */
export async function checkSender(
  raw: Uint8Array,
  origin: MailOrigin | undefined,
  fromAddress: string,
): Promise<CheckedSender> {
  if (!origin) return { auth: noMailAuth, proof: undefined }
  const { connection, findings } = origin
  const resolver = replayNames(findings.records)
  const { mailFrom: sender } = connection
  const message = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  const signed = await dkimVerify(message, { resolver, sender })
  const signatures = signed.results ?? []
  // A signature of a part of the message says nothing about the rest.
  const passed = signatures.filter(({ status }) => status.result === "pass" && !status.underSized)
  const spfDomain = findings.spf.domain
  const policy = await dmarc({
    resolver,
    headerFrom: signed.headerFrom,
    spfDomains: spfDomain === "" ? [] : [spfDomain],
    dkimDomains: passed.map(({ signingDomain = "" }) => ({ domain: signingDomain })),
  })
  const dmarcResult = policy === false ? "none" : policy.status.result
  // The parsers must agree on who the sender is.
  const isOne =
    signed.headerFrom?.length === 1 && signed.headerFrom[0]?.toLowerCase() === fromAddress
  const aligned = passed.filter(({ status }) => Boolean(status.aligned))
  const isSent =
    policy === false || dmarcResult === "none"
      ? sender !== "" && isSameDomain(spfDomain, fromAddress)
      : policy.alignment?.spf.result !== undefined
  const isAligned =
    dmarcResult === "pass" || (dmarcResult === "none" && (aligned.length > 0 || isSent))
  const isFromVerified = isOne && isAligned
  return {
    auth: {
      spf: findings.spf.result as MailAuth["spf"],
      dkim: toSignatureResult(signatures),
      dmarc: dmarcResult,
      isFromVerified,
    },
    proof: isFromVerified && !isSent ? toProof(aligned[0]) : undefined,
  }
}

/** The checks, and the signature if nothing else proves the sender. */
export interface CheckedSender {
  readonly auth: MailAuth
  readonly proof: SignatureProof | undefined
}

/** A signature with its hash: a copy of the message has the same one, whatever was added to it. */
interface SignatureProof {
  readonly signature: MailSignature
  readonly hash: string
}

/** Only signed headers are considered: others may have been added to a copy of the message. */
function toProof(result: DKIMResult | undefined): SignatureProof {
  const headers = (result?.signingHeaders?.headers ?? []).map((line) => {
    const colon = line.indexOf(":")
    return { name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() }
  })
  const recipients = headers
    .filter(({ name }) => name === "to" || name === "cc")
    .flatMap(({ value }) => addressParser(value, { flatten: true }) as readonly Address[])
    .flatMap(({ address }) => address?.toLowerCase() ?? [])
  const date = headers.find(({ name }) => name === "date")?.value ?? result?.signTime ?? ""
  const at = Date.parse(date.replace(/\([^()]*\)/g, ""))
  return {
    signature: { recipients, at: Number.isNaN(at) ? undefined : at },
    hash: result?.id ?? "",
  }
}

const bestFirst: readonly string[] = ["pass", "temperror", "fail", "policy", "neutral"]

/** The best result: one valid signature is enough. */
function toSignatureResult(signatures: readonly DKIMResult[]): string {
  const results = new Set<string>(signatures.map(({ status }) => status.result))
  return bestFirst.find((result) => results.has(result)) ?? "none"
}

function isSameDomain(domain: string, address: string): boolean {
  return domain !== "" && address.endsWith(`@${domain.toLowerCase()}`)
}
