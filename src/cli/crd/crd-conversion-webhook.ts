// `binnacle crd conversion-webhook`: serves described conversions to a cluster.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { answerReview } from '../../authoring/conversion-webhook.js'
import { acceptDefinitions } from '../../authoring/definitions.js'
import { readDocuments } from '../../authoring/documents.js'
import { hasAtLeast } from '../../authoring/findings.js'
import { counted } from '../../authoring/report.js'
import { UsageError } from '../../base/usage-error.js'
import { optionalText, port, text } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { finish, withUsageErrors } from '../report/report.js'

const webhookFlags = {
  port: port('the port; 0 takes any free one', 8443),
  'bind-address': text('ADDRESS', 'the address to listen on', '0.0.0.0'),
  'tls-cert-file': optionalText('FILE', 'the certificate of the webhook; without one, plain http is served'),
  'tls-private-key-file': optionalText('FILE', 'its key'),
}

const HELP = `Usage: binnacle crd conversion-webhook FILE... --tls-cert-file=FILE --tls-private-key-file=FILE [flags]

Serves the conversions that the annotations binnacle.dev/conversion of the definitions describe, as a conversion webhook: the
same description works on Binnacle without a webhook, and on a cluster with this one. All paths answer ConversionReviews;
/healthz answers ok.

Flags:
${printFlags(webhookFlags)}
`

export const CONVERSION_WEBHOOK: Command = { run: args => withUsageErrors(() => serve(args)), help: () => HELP }

const MAX_BODY = 64 * 1024 * 1024

async function serve(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, webhookFlags)
  if (words.length === 0) throw new UsageError('there is no definition: binnacle crd conversion-webhook FILE...')
  const read = readDocuments(words)
  const { accepted, findings, api } = await acceptDefinitions(read.documents)
  const all = [...read.findings, ...findings]
  if (hasAtLeast(all, 'error')) {
    const checked = counted(read.documents.length, 'object')
    return finish(
      { command: 'crd conversion-webhook', findings: all, checked, files: [] },
      { output: 'text', 'fail-on': 'error' },
    )
  }
  const cert = values['tls-cert-file']
  const key = values['tls-private-key-file']
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('give --tls-cert-file and --tls-private-key-file together')
  const listener: RequestListener = (request, response) => {
    const reply = (code: number, type: string, body: string): void =>
      void response.writeHead(code, { 'content-type': type }).end(body)
    if (request.url === '/healthz') return reply(200, 'text/plain', 'ok')
    readBody(request)
      .then(body => answerReview(api, body))
      .then(
        answer => reply(200, 'application/json', answer),
        (error: unknown) => reply(400, 'text/plain', `${(error as Error).message}\n`),
      )
  }
  const server =
    cert === undefined
      ? createHttpServer(listener)
      : createServer({ cert: readFileSync(cert), key: readFileSync(key!) }, listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(values.port, values['bind-address'], resolve)
  })
  const { port: listening } = server.address() as AddressInfo
  console.log(
    `converting ${counted(accepted.length, 'kind')}, ready at ${cert === undefined ? 'http' : 'https'}://${values['bind-address']}:${listening},`,
  )
  await new Promise<void>(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve)
  })
  server.close()
  server.closeAllConnections()
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY) throw new Error(`the body has more than ${MAX_BODY} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
