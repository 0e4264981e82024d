// The fuzzer: sends generated requests over HTTP/2, and raw frames, to a server that measures itself.
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import type { MeasuredBinnacle } from '../components/measured-binnacle.js'
import { connectionBytes } from '../generators/http2-frames.js'
import { createRequests, type GeneratedRequest, LANES } from '../generators/requests.js'
import { createRandom, type Random } from '../storage/history/random.js'

export interface FuzzReport {
  readonly sent: number
  /** How often each status was answered. A stream that was reset counts as `reset` with its code, others as `unsent` with why. */
  readonly statuses: ReadonlyMap<string, number>
  /** Requests that were answered 500 where kube-apiserver does not answer so. */
  readonly failures: readonly Failure[]
  /** Requests that held the event loop longer than allowed. */
  readonly slow: readonly string[]
}

export interface Failure {
  readonly request: GeneratedRequest
  readonly text: string
}

/** How long a request may hold the event loop: so long, or longer for a large body. */
const HELD_MS = 100
const HELD_MS_PER_MIB = 100
const TOKEN = 'admin-token'
/** How far the run is, is printed after so many requests. */
const PROGRESS = 5_000

function progressOf(sent: number, heapOfServer: number): string {
  const { heapUsed, rss } = process.memoryUsage()
  const [server, heap, all] = [heapOfServer, heapUsed, rss].map(bytes => (bytes / 2 ** 20).toFixed(0))
  return `${sent} sent; MiB in use: ${server} in the server, here ${heap} of ${all}`
}

/** `print` gets what is found at once, and how far the run is: a long one may be stopped before its end. */
export async function fuzz(
  server: MeasuredBinnacle,
  seed: number,
  requests: number,
  print: (line: string) => void,
): Promise<FuzzReport> {
  const next = createRequests(seed)
  const random = createRandom(seed + 1)
  const statuses = new Map<string, number>()
  const failures: Failure[] = []
  const slow: string[] = []
  const fail = (request: GeneratedRequest, text: string): void => {
    failures.push({ request, text })
    print(`${describeRequest(request)} → ${text.slice(0, 300)}`)
  }
  let session = open(server)
  let sent = 0
  while (sent < requests) {
    // These are on their way at once, and are measured together.
    const batch = Array.from({ length: Math.min(LANES, requests - sent) }, next)
    sent += batch.length
    await server.reset()
    if (sent % PER_SESSION < LANES) session.close()
    if (session.destroyed || session.closed) session = open(server)
    const answers = await Promise.all(batch.map(request => send(session, request)))
    for (const [i, answer] of answers.entries()) {
      let { status, text } = answer
      if (status.startsWith('unsent')) {
        // The connection has ended meanwhile.
        if (session.destroyed || session.closed) session = open(server)
        ;({ status, text } = await send(session, batch[i]!))
        if (status.startsWith('unsent')) fail(batch[i]!, status)
      }
      // The answer to a HEAD does not say why.
      if (status === '500' && batch[i]!.method === 'HEAD')
        ({ text } = await send(session, { ...batch[i]!, method: 'GET' }))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === UNANSWERED || (status === '500' && !isUpstreams(text))) fail(batch[i]!, text)
    }
    const { heldMs, heap } = await server.measure()
    if (sent % PROGRESS < LANES) print(progressOf(sent, heap))
    const bodies = batch.reduce((sum, { body }) => sum + body.length, 0)
    const allowed = HELD_MS + (HELD_MS_PER_MIB * bodies) / 2 ** 20
    // A busy machine is slower.
    if (heldMs > allowed && heldMs > allowed * (await server.slowness())) {
      slow.push(`${heldMs.toFixed(0)} ms for: ${batch.map(describeRequest).join(' | ')}`)
      print(slow.at(-1)!)
    }
    if (random.chance(0.1)) await sendFrames(server, random)
  }
  session.close()
  return { sent, statuses, failures, slow }
}

/**
 * Requests of the fuzzer that kube-apiserver v1.36.4 answers with a Status of code 500, too. Each was sent to it; its
 * message is compared, which is in the answer in every encoding.
 */
const ANSWERED_500_UPSTREAM: readonly RegExp[] = [
  // A get with such a resourceVersion.
  /resourceVersion: Invalid value: .*strconv\.ParseUint/,
  // A PUT or an apply that creates an object with such a resourceVersion.
  /strconv\.ParseUint: parsing /,
  // A Binding whose target is no node.
  /target\.(name: Required value|kind: Unsupported value)/,
  // An apply whose value does not fit the type.
  /failed to create typed patch object \(/,
  // An apply whose result does not fit the Go type.
  /failed to convert new object \(.*\) to proper version: unable to convert unstructured object to /,
  // An apply to an object with fields that the schema has no more.
  /failed to convert new object: .*: field not declared in schema/,
  /failed to prune fields: .*: field not declared in schema/,
  // The same for the scale of an object, which is applied in another version or under another name.
  /failed to convert new object \(.*\) to proper version: request to convert CR to an invalid group\/version/,
  // A webhook that the fuzzer has configured, and that does not answer, or not as it should.
  /failed calling webhook /,
  /conversion webhook for .* (failed|returned (invalid|[0-9]+ objects))/,
  // A mutating policy or webhook whose result is no object of the kind, or the patch of one that does not apply.
  /Internal error occurred: (strict decoding error: |json: cannot unmarshal |illegal base64 data )/,
  /(add|remove|replace) operation does not apply: doc is missing path: /,
  /unexpected GroupVersion string: /,
  // A mutating policy that replaces a value by nothing.
  /replace operation value must be object or array: /,
  // A merge patch of a map with the directives of a list.
  /merging an object in json but data type is not struct/,
  // A single object as a list of partial metadata.
  /content is not a list/,
  // The scale of an object whose parts have other types, which another version has let in.
  /\.spec\.replicas accessor error: /,
  // An object with metadata inside that an older schema has let in.
  /metadata: Invalid value: .*: json: cannot unmarshal .* into Go value of type v1.ObjectMeta/,
  // A patch that leaves out the apiVersion of a custom object.
  /Object 'apiVersion' is missing in 'object has no apiVersion field'/,
  // The scale of an object without the number of replicas, and the log of a container on a node that does not answer.
  /the spec replicas field .* does not exist/,
  /Get .*\/containerLogs\/.* connection refused/,
  // A create of a custom object with a resourceVersion.
  /resourceVersion should not be set on objects to be created/,
  // A strategic merge patch whose lists do not fit those of the object, or its own directives.
  /does not contain declared merge key: /,
  /list element types are not identical: /,
  /expected a (\[\]|map\[string\])interface \{\}, but received a /,
  /The order in patch list:/,
  /unknown patch type: /,
  /unable to find api field in struct /,
  // A mutating webhook whose patch does not apply, or that changes an object that is deleted.
  /Internal error occurred: error in \w+ for path: /,
  /Internal error occurred: (test operation does not apply|testing value \S+ failed)/,
  /attempted to modify the object, which is not supported for this operation/,
  // The eviction of a pod that two budgets select.
  /This pod has more than one PodDisruptionBudget/,
  // A pod whose runtimeClassName is empty.
  /resource name may not be empty/,
  // The proxy of a node without addresses.
  /no preferred addresses found/,
]

/** The encoder of YAML may break a line at a space. */
const isUpstreams = (text: string): boolean =>
  ANSWERED_500_UPSTREAM.some(message => message.test(text.replace(/\s+/g, ' ')))

export const describeRequest = ({ method, path, headers, body }: GeneratedRequest): string =>
  `${method} ${path} ${headers['content-type'] ?? ''} ${headers['accept'] ?? ''} ${body.length} bytes: ${body.toString('utf8', 0, 400)}`

/** A connection is used for so many requests. Node's client keeps memory for streams that a server has reset, until it ends. */
const PER_SESSION = 1_000

function open({ url, ca }: MeasuredBinnacle): ClientHttp2Session {
  // Node counts streams that a server has reset against the memory of the session, and would refuse all later ones.
  const session = connect(url, { ca, maxSessionMemory: 1000 })
  session.on('error', () => {})
  return session
}

const UNANSWERED = 'unanswered'
/** Longer than the server lets a request take. */
const ANSWER_MS = 90_000

async function send(
  session: ClientHttp2Session,
  { method, path, headers, body }: GeneratedRequest,
): Promise<{ status: string; text: string }> {
  const fields = { authorization: `Bearer ${TOKEN}`, ...headers, ':method': method, ':path': path }
  let stream: ClientHttp2Stream
  try {
    // By default, Node ends a GET, HEAD or DELETE before its body.
    stream = session.request(fields, { endStream: body.length === 0 })
  } catch (error) {
    return { status: `unsent ${(error as NodeJS.ErrnoException).code}`, text: '' }
  }
  let failed: NodeJS.ErrnoException | undefined
  stream.on('error', error => (failed = error))
  if (body.length > 0) stream.end(body)
  let status: string | undefined
  stream.on('response', answer => (status = String(answer[':status'])))
  let text = ''
  stream.setEncoding('utf8').on('data', (part: string) => {
    if (text.length < 2_000) text += part
  })
  // A stream whose body the server has not read to its end is not closed by Node after the response, and is never sent.
  const isAnswered = await Promise.race([
    once(stream, 'close').then(() => true),
    once(stream, 'end').then(() => true),
    new Promise<boolean>(resolve => setTimeout(resolve, ANSWER_MS, false).unref()),
  ]).catch(() => true)
  if (!stream.destroyed) stream.close()
  if (!isAnswered) return { status: UNANSWERED, text }
  if (status !== undefined) return { status, text }
  // Node has not sent a stream without an id.
  return { status: stream.id === undefined ? `unsent ${failed?.code}` : `reset ${stream.rstCode}`, text }
}

const READ_MS = 50

/** One connection with raw frames; what the server answers is read for a moment. */
async function sendFrames({ url, ca }: MeasuredBinnacle, random: Random): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connectTls({ host: hostname, port: Number(port), ca, ALPNProtocols: ['h2'] })
  socket.on('error', () => {})
  const headers: (readonly [string, string])[] = [
    [':method', random.oneOf(['GET', 'POST', 'X', ''])],
    [':scheme', 'https'],
    [':path', random.oneOf(['/api/v1/pods', '/', '', '/healthz', '/\0'])],
    [':authority', hostname],
    ['authorization', `Bearer ${TOKEN}`],
  ]
  socket.write(connectionBytes(random, headers))
  socket.resume()
  await Promise.race([once(socket, 'close').catch(() => {}), new Promise(resolve => setTimeout(resolve, READ_MS))])
  socket.destroy()
}
