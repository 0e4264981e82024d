import { expect, test } from 'vitest'
import type { LogLine } from '../../base/logger.js'
import type { PathRequest } from '../../http/pages.js'
import { parseRequestInfo } from '../../request/request-info.js'
import { createServerLogger } from './logging.js'
import { type Verbosity, verbosityPages } from './verbosity.js'

async function send(verbosity: Verbosity, method: string, body = ''): Promise<string> {
  const answers: string[] = []
  const path = '/debug/flags/v'
  const request = {
    info: parseRequestInfo(method, path, ''),
    reply: { send: (status: number, _headers: object, text: string) => answers.push(`${status} ${text}`) },
    readBody: () => Promise.resolve(Buffer.from(body)),
  }
  await new Map(verbosityPages(verbosity)).get(path)!(request as unknown as PathRequest)
  return answers.join()
}

test('what is logged changes while the server runs', async () => {
  const verbosity = { level: 1 }
  const lines: LogLine[] = []
  const log = await createServerLogger({ verbosity: 1, format: 'text', write: line => lines.push(line) }, verbosity)
  log.debug('before')
  expect(await send(verbosity, 'PUT', '4')).toBe('200 successfully set klog.logging.verbosity to 4')
  log.debug('after')
  expect(lines.map(({ message }) => message)).toEqual(['after'])
})

test.each([
  ['PUT', 'x', '400 strconv.ParseUint: parsing "x": invalid syntax'],
  ['PUT', '-1', '400 strconv.ParseUint: parsing "-1": invalid syntax'],
  ['PUT', '4294967296', '400 strconv.ParseUint: parsing "4294967296": value out of range'],
  ['GET', '', '406 unsupported http method'],
])('%s %s', async (method, body, answer) => {
  const verbosity = { level: 1 }
  expect(await send(verbosity, method, body)).toBe(answer)
  expect(verbosity.level).toBe(1)
})
