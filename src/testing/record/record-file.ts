// A record in a file: a line of JSON for each exchange.
import { readFile, writeFile } from 'node:fs/promises'
import { UsageError } from '../../base/usage-error.js'
import type { RecordedExchange } from './exchange-log.js'

const HEAD = 'binnacle-record-1'

/** Only the user may read it: bodies may be Secrets. */
export async function writeRecord(file: string, exchanges: readonly RecordedExchange[]): Promise<void> {
  const lines = [HEAD, ...exchanges].map(each => JSON.stringify(each))
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
}

/** Reads what `recording.save(file)` has written. */
export async function readRecord(file: string): Promise<readonly RecordedExchange[]> {
  const [head, ...exchanges] = parseLines(await readFile(file, 'utf8'))
  if (head !== HEAD || !exchanges.every(isExchange)) {
    throw new UsageError(`${file} is not a record: write one with server.record().save(file)`)
  }
  return exchanges
}

function parseLines(text: string): readonly unknown[] {
  try {
    return text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as unknown)
  } catch {
    return []
  }
}

function isExchange(value: unknown): value is RecordedExchange {
  const { method, path, user, headers, body, status, answer } = (value ?? {}) as Partial<RecordedExchange>
  return (
    typeof method === 'string' &&
    typeof path === 'string' &&
    path.startsWith('/') &&
    typeof user?.name === 'string' &&
    Array.isArray(user.groups) &&
    typeof headers === 'object' &&
    typeof status === 'number' &&
    [body, answer].every(each => each === undefined || typeof each === 'string')
  )
}
