// A collector of spans for tests: it takes what is sent by OTLP over gRPC.
import { createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import protobuf from 'protobufjs/light.js'

export interface CollectedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly flags: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly string[]
  readonly links: readonly string[]
  readonly milliseconds: number
  readonly resource: Readonly<Record<string, unknown>>
}

export interface OtlpCollector {
  /** `127.0.0.1:PORT`. */
  readonly endpoint: string
  readonly spans: CollectedSpan[]
  /** The codes of gRPC with which the next calls are refused. */
  readonly refusals: number[]
  /** Resolves as soon as there is such a span. */
  find(isWanted: (span: CollectedSpan) => boolean): Promise<CollectedSpan>
  close(): void
}

const PATH = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

export async function startOtlpCollector(port = 0): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const refusals: number[] = []
  const waiting = new Set<() => void>()
  const server: Http2Server = createServer()
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const isKnown = headers[':path'] === PATH && headers['content-type'] === 'application/grpc'
      const status = refusals.shift() ?? (isKnown ? 0 : 12)
      if (status === 0) spans.push(...decode(Buffer.concat(chunks).subarray(5)))
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status) }))
      stream.end(Buffer.alloc(5))
      for (const wake of waiting) wake()
    })
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    refusals,
    find: isWanted =>
      new Promise(resolve => {
        const look = (): void => {
          const found = spans.find(isWanted)
          if (!found) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
    close: () => void server.close(),
  }
}

// ---- decoding, independent of the tables of the exporter

type Fields = readonly (readonly [number: number, value: Buffer | bigint])[]

function fieldsOf(bytes: Uint8Array): Fields {
  const reader = protobuf.Reader.create(bytes)
  const fields: [number, Buffer | bigint][] = []
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const wire = tag & 7
    fields.push([tag >>> 3, wire === 2 ? Buffer.from(reader.bytes()) : numberOf(reader, wire)])
  }
  return fields
}

function numberOf(reader: protobuf.Reader, wire: number): bigint {
  // Reads 64 bits as two halves: a Long would need a further package.
  if (wire === 0) return BigInt(Number(reader.uint64()))
  if (wire === 1) return BigInt(reader.fixed32()) | (BigInt(reader.fixed32()) << 32n)
  return BigInt(reader.fixed32())
}

const all = (fields: Fields, number: number): Buffer[] =>
  fields.flatMap(([each, value]) => (each === number && Buffer.isBuffer(value) ? [value] : []))
const text = (fields: Fields, number: number, encoding: BufferEncoding = 'utf8'): string =>
  all(fields, number)[0]?.toString(encoding) ?? ''
const number = (fields: Fields, at: number): bigint =>
  (fields.find(([each]) => each === at)?.[1] as bigint | undefined) ?? 0n

function decode(request: Buffer): CollectedSpan[] {
  return all(fieldsOf(request), 1).flatMap(bytes => {
    const resourceSpans = fieldsOf(bytes)
    const resource = attributesOf(fieldsOf(all(resourceSpans, 1)[0]!), 1)
    return all(resourceSpans, 2).flatMap(scope => all(fieldsOf(scope), 2).map(span => spanOf(fieldsOf(span), resource)))
  })
}

const spanOf = (fields: Fields, resource: CollectedSpan['resource']): CollectedSpan => ({
  traceId: text(fields, 1, 'hex'),
  spanId: text(fields, 2, 'hex'),
  parentSpanId: text(fields, 4, 'hex'),
  name: text(fields, 5),
  kind: Number(number(fields, 6)),
  milliseconds: Number(number(fields, 8) - number(fields, 7)) / 1e6,
  attributes: attributesOf(fields, 9),
  events: all(fields, 11).map(event => text(fieldsOf(event), 2)),
  links: all(fields, 13).map(link => text(fieldsOf(link), 1, 'hex')),
  flags: Number(number(fields, 16)),
  resource,
})

function attributesOf(fields: Fields, at: number): Record<string, unknown> {
  return Object.fromEntries(
    all(fields, at).map(bytes => {
      const pair = fieldsOf(bytes)
      const [kind, value] = fieldsOf(all(pair, 2)[0]!)[0] ?? [1, Buffer.alloc(0)]
      return [text(pair, 1), kind === 1 ? String(value) : kind === 2 ? value === 1n : Number(value)]
    }),
  )
}
