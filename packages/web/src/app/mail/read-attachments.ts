/** Reads files as the API takes attachments: in base64. */
export function readAttachments(files: readonly File[]) {
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
