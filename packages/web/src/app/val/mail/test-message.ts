import { api } from "../../api.ts"
import { currentUser } from "../../session/session.ts"

/** A message that tries a val of type email. */
export interface TestMessage {
  /** Undefined for the user's own address. */
  readonly from?: string
  readonly subject: string
  readonly text: string
  readonly files: readonly File[]
}

/** The message of a page on which none was typed. */
export const firstMessage: TestMessage = { subject: "Test", text: "Hello", files: [] }

/** The sender as the form shows it. */
export function toSender({ from }: TestMessage): string {
  return from ?? currentUser()?.email ?? ""
}

/** Sends the message to a file. Returns its run, which has not ended. */
export async function sendTestMessage(
  place: { readonly val_id: string; readonly file?: string; readonly branch: string },
  message: TestMessage,
): Promise<{ readonly id: string }> {
  const attachments = await readAttachments(message.files)
  const from = toSender(message).trim()
  return api.sendTestEmail({
    ...place,
    ...(from === "" ? {} : { from }),
    subject: message.subject,
    text: message.text,
    ...(attachments.length === 0 ? {} : { attachments }),
  })
}

/** Reads files as the API takes attachments: in base64. */
function readAttachments(files: readonly File[]) {
  return Promise.all(
    files.map(async (file) => ({
      filename: file.name,
      content: await toBase64(file),
      ...(file.type === "" ? {} : { type: file.type }),
    })),
  )
}

async function toBase64(file: Blob): Promise<string> {
  const reader = new FileReader()
  const done = new Promise<string>((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
  })
  reader.readAsDataURL(file)
  const url = await done
  return url.slice(url.indexOf(",") + 1)
}
