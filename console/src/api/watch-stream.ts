// Reads the body of a watch: one JSON document a line.

/** Calls `onLine` for each line; returns when the server ends the stream. */
export async function readLines(response: Response, onLine: (line: string) => void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') onLine(line)
  }
  if (rest.trim() !== '') onLine(rest)
}
