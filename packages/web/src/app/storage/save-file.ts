/** Saves content as a file of the user. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement("a")
  const url = URL.createObjectURL(content)
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the content by the next turn.
  setTimeout(() => URL.revokeObjectURL(url))
}
