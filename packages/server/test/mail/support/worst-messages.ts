const head = "From: eve@sender.example.com\r\nMIME-Version: 1.0\r\n"
const mega = 1_000_000

/** The largest message, and one that is read in many pieces too, in a fifth of the time. */
const bytes = { most: 20 * mega, many: 4 * mega }

/** Repeats a part as often as fits into so many bytes. */
function fill(part: string, bytes: number): string {
  return part.repeat(Math.floor(bytes / part.length))
}

function lines(part: string, chars: number, bytes: number): string {
  return fill(`${part.repeat(Math.floor(chars / part.length))}\r\n`, bytes)
}

function nested(levels: number): string {
  const level = (_: unknown, index: number) =>
    `Content-Type: multipart/mixed; boundary=b${index}\r\n\r\n--b${index}\r\n`
  return Array.from({ length: levels }, level).join("")
}

const multipart = "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
const quoted = "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
const signature = (index: number) =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=d${index}.example; s=s; l=${index}; h=from; bh=x; b=x\r\n`

const texts: Readonly<Record<string, () => string>> = {
  "20 MB of empty lines": () => `${head}\r\n${fill("\r\n", bytes.most)}`,
  "lines with a dot": () => `${head}\r\n${fill("..\r\n", bytes.many)}`,
  "as many empty lines as are read": () => `${head}\r\n${fill("\r\n", 990_000)}`,
  "100,000 headers": () => `${head}${fill("X: y\r\n", 600_000)}\r\nx`,
  "one header of 20 MB": () => `${head}X: ${fill("x", bytes.most)}\r\n\r\nx`,
  "a header of many lines": () => `${head}X: y\r\n${fill(" x\r\n", bytes.many)}\r\nx`,
  "encoded words, as many as are read": () =>
    `${head}Subject: ${fill("=?utf-8?Q?=C3=A9?= ", 250_000)}\r\n\r\nx`,
  "addresses, as many as are read": () =>
    `${head}To: ${fill('"(<a@b.example>,', 250_000)}\r\n\r\nx`,
  "100,000 parts": () => `${head}${multipart}${fill("--b\r\n\r\nx\r\n", 1_100_000)}`,
  "parts, as many as are read": () => `${head}${multipart}${"--b\r\n\r\nx\r\n".repeat(900)}`,
  "parts with large headers": () =>
    `${head}${multipart}${`--b\r\nX: ${"x".repeat(500)}\r\n\r\nx\r\n`.repeat(900)}`,
  "100,000 nested parts": () => `${head}${nested(100_000)}\r\nx`,
  "nested parts, as many as are read": () => `${head}${nested(31)}\r\nx`,
  "nested messages": () =>
    `${head}${"Content-Type: message/rfc822\r\n\r\n".repeat(20)}${lines("x", 70, bytes.many)}`,
  "soft line breaks, as many as are read": () => `${head}${quoted}${fill("=\r\n", 1_400_000)}`,
  "quoted bytes": () => `${head}${quoted}${lines("=C3=A9", 72, bytes.many)}`,
  tags: () => `${head}Content-Type: text/html\r\n\r\n${lines("<a>&amp;", 72, bytes.many)}`,
  "letters that grow": () =>
    `${head}Content-Type: text/plain; charset=tis-620\r\n\r\n${lines("\xa1", 76, bytes.many)}`,
  // Each of them reads the whole text.
  "20 signatures": () =>
    `${head}${Array.from({ length: 20 }, (_, index) => signature(index)).join("")}\r\n${lines("x ", 76, mega)}`,
  "a signature of many headers": () =>
    `${head}DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=x.example; s=s; h=${fill("from:", 200_000)}; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=x\r\n\r\n`,
  "20 MB in an attachment": () =>
    `${head}${multipart}--b\r\n\r\nhello\r\n--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines("A", 76, bytes.most)}--b--\r\n`,
}

/**
 * Messages that are made to keep the server busy, or to fill its memory, as they go over the wire,
 * without the line with a dot that ends them. Each is made when it is needed: together they are large.
 */
export const worstMessages: Readonly<Record<string, () => Buffer>> = Object.fromEntries(
  Object.entries(texts).map(([name, toText]) => [name, () => Buffer.from(toText(), "latin1")]),
)

const someCommands = 200_000
/** Each has a reply: these are more than the server reads at once. */
const someReplies = 50_000

/** Bytes that a client sends after the greeting, instead of a message. */
export const worstCommands: Readonly<Record<string, () => string>> = {
  "NOOP, many times at once": () => `EHLO c.example\r\n${"NOOP\r\n".repeat(someReplies)}`,
  "empty commands": () => "\r\n".repeat(someCommands),
  "EHLO, many times at once": () => `EHLO ${"c".repeat(200)}\r\n`.repeat(someCommands / 20),
  "a command without an end": () => "x".repeat(20 * mega),
  "MAIL FROM and RSET": () =>
    `EHLO c.example\r\n${"MAIL FROM:<a@b.example>\r\nRSET\r\n".repeat(someCommands / 20)}`,
  "recipients, many times at once": () =>
    `EHLO c.example\r\nMAIL FROM:<a@b.example>\r\n${"RCPT TO:<ada.nobody@vals.example.com>\r\n".repeat(someCommands / 20)}`,
  "long parameters": () =>
    `EHLO c.example\r\n${`MAIL FROM:<a@b.example> ${"X=+41+42 ".repeat(200)}\r\n`.repeat(1_000)}`,
}
