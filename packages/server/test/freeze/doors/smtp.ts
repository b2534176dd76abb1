import { SmtpClient } from "../../mail/support/smtp-client.ts"
import { worstCommands, worstMessages } from "../../mail/support/worst-messages.ts"
import type { Door, Stage } from "../door.ts"

export const mailDomain = "vals.example.com"
const longLine = "a".repeat(100_000)
const megabyte = 1_048_576
const mailsAtOnce = 3
const emptyLines = "20 MB of empty lines"

/** Each command that the server's library knows, with its worst line. */
export const smtpLines: Readonly<Record<string, string>> = {
  AUTH: `AUTH PLAIN ${longLine}`,
  DATA: `DATA ${longLine}`,
  EHLO: `EHLO ${longLine}`,
  HELO: `HELO ${longLine}`,
  HELP: `HELP ${longLine}`,
  KILL: `KILL ${longLine}`,
  MAIL: `MAIL FROM:<${"a.".repeat(30_000)}@example.com> ${"SIZE=1 ".repeat(5_000)}`,
  NOOP: `NOOP ${longLine}`,
  QUIT: `QUIT ${longLine}`,
  RCPT: `RCPT TO:<${"=?utf-8?q?".repeat(10_000)}@${mailDomain}>`,
  RSET: `RSET ${longLine}`,
  SHELL: `SHELL ${longLine}`,
  STARTTLS: `STARTTLS ${longLine}`,
  VRFY: `VRFY ${longLine}`,
  WIZ: `WIZ ${longLine}`,
  XCLIENT: `XCLIENT ${"ADDR=1 ".repeat(10_000)}`,
  XFORWARD: `XFORWARD ${"ADDR=1 ".repeat(10_000)}`,
}

async function sendLine({ smtpPort }: Stage, line: string): Promise<void> {
  const client = await SmtpClient.open(smtpPort)
  // A refusal and the end of the connection are both answers.
  await client.send(line).catch(() => undefined)
  client.close()
}

/** Sends the commands and QUIT, and reads replies until the server closes the connection. */
async function sendCommands({ smtpPort }: Stage, commands: string): Promise<void> {
  const client = await SmtpClient.open(smtpPort)
  client.write(`${commands}\r\nQUIT\r\n`)
  await client.untilClosed()
}

async function sendMessage({ smtpPort }: Stage, message: Buffer): Promise<void> {
  const client = await SmtpClient.open(smtpPort)
  await client.begin("eve@example.com", `ada.inbox@${mailDomain}`)
  // A refusal and the end of the connection are both answers.
  await client.data(message).catch(() => undefined)
  client.close()
}

export const smtpDoors: readonly Door[] = [
  ...Object.entries(smtpLines).map(([command, line]) => ({
    name: `SMTP ${command}`,
    drive: (stage: Stage) => sendLine(stage, line),
  })),
  ...Object.entries(worstCommands).map(([name, toCommands]) => ({
    name: `SMTP: ${name}`,
    drive: (stage: Stage) => sendCommands(stage, toCommands()),
  })),
  ...Object.entries(worstMessages)
    // Several of them are sent at once below.
    .filter(([name]) => name !== emptyLines)
    .map(([name, toMessage]) => ({
      name: `mail: ${name}`,
      drive: (stage: Stage) => sendMessage(stage, toMessage()),
    })),
  {
    name: "mails at once",
    async drive(stage) {
      const message = worstMessages[emptyLines]?.() ?? Buffer.alloc(0)
      const sending = Array.from({ length: mailsAtOnce }, () => sendMessage(stage, message))
      await Promise.all(sending)
    },
  },
  {
    name: "test mail of line ends",
    async drive(stage) {
      const { id } = await stage.client.getValByName({ username: "ada", val_name: "inbox" })
      // The mail is as large as the body of a request may be.
      const body = `{"raw":"From: a@b.example\\n\\n${"\\n".repeat(megabyte - 100)}"}`
      await stage.send({ method: "POST", path: `/v1/vals/${id}/emails`, body })
    },
  },
]
