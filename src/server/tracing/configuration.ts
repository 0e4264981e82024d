// The file of --tracing-config-file: where spans are sent, and how many requests are traced.
import { once } from '../../base/memo.js'
import { UsageError } from '../../base/usage-error.js'
import { type FieldError, fieldInvalid, printFieldErrors } from '../../meta/errors/field-errors.js'
import { numberOrNone, stringAt } from '../../meta/values/access.js'
import { type ConfigurationScheme, decodeConfiguration } from '../../types/configuration-document.js'
import { builtinTypesAnd, type TypeTable } from '../../types/type-table.js'

export interface TracingOptions {
  /** `HOST:PORT`, or `unix:///run/collector.sock`. */
  readonly endpoint: string
  /** Which part of the requests that name no trace begin one: 0 to 1. */
  readonly ratio: number
}

/** Where OpenTelemetry's collectors listen. */
const DEFAULT_ENDPOINT = 'localhost:4317'
const MILLION = 1_000_000

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1']
const SCHEME: ConfigurationScheme = {
  kinds: VERSIONS.map(version => `apiserver.config.k8s.io/${version} TracingConfiguration`),
  scheme: 'k8s.io/apiserver/pkg/server/options/tracing.go:49',
}
const TYPE = 'apiserver/v1.TracingConfiguration'

const configurationTypes = once(
  (): TypeTable =>
    builtinTypesAnd({
      kinds: Object.fromEntries(SCHEME.kinds.map(kind => [kind, TYPE])),
      types: {
        [TYPE]: {
          fields: [
            { type: 'meta/v1.TypeMeta', inline: true },
            { name: 'endpoint', type: 'string', omitempty: true, pointer: true },
            { name: 'samplingRatePerMillion', type: 'int32', omitempty: true, pointer: true },
          ],
        },
      },
    }),
)

/** Throws a UsageError with kube-apiserver's message. */
export function parseTracingConfiguration(bytes: Buffer): TracingOptions {
  const { endpoint, rate } = decoded(bytes)
  const errors = [...errorsOfRate(rate), ...errorsOfEndpoint(endpoint)]
  if (errors.length > 0) {
    throw new UsageError(`failed to validate tracing configuration: ${printFieldErrors(errors)}`)
  }
  return { endpoint: addressOf(endpoint), ratio: rate / MILLION }
}

function decoded(bytes: Buffer): { readonly endpoint: string; readonly rate: number } {
  if (bytes.toString().trim() === '') return { endpoint: DEFAULT_ENDPOINT, rate: 0 }
  try {
    const configuration = decodeConfiguration(bytes, SCHEME, configurationTypes())
    const rate = numberOrNone(configuration, 'samplingRatePerMillion') ?? 0
    return { endpoint: stringAt(configuration, 'endpoint') || DEFAULT_ENDPOINT, rate }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const why = `unable to decode tracing configuration data: ${error.message}`
    throw new UsageError(`failed to read tracing config: ${why}`)
  }
}

function errorsOfRate(rate: number): FieldError[] {
  const at = 'samplingRatePerMillion'
  if (rate < 0) return [fieldInvalid(at, rate, 'sampling rate must be positive')]
  return rate > MILLION
    ? [fieldInvalid(at, rate, 'sampling rate per million must be less than or equal to one million')]
    : []
}

const SCHEMES: ReadonlySet<string> = new Set(['dns', 'unix', 'unix-abstract'])

function errorsOfEndpoint(endpoint: string): FieldError[] {
  const at = endpoint.indexOf('//')
  if (at === -1) return []
  const scheme = endpoint.slice(0, at).replace(/:$/, '')
  if (SCHEMES.has(scheme)) return []
  if (!/^[A-Za-z][-A-Za-z0-9+.]*$/.test(scheme)) {
    const why = `parse ${JSON.stringify(endpoint)}: first path segment in URL cannot contain colon`
    return [fieldInvalid('endpoint', endpoint, why)]
  }
  const hint = 'See https://github.com/grpc/grpc/blob/master/doc/naming.md'
  return [
    fieldInvalid(
      'endpoint',
      endpoint,
      `unsupported scheme: ${scheme}.  Options are none, dns, unix, or unix-abstract.  ${hint}`,
    ),
  ]
}

/** `dns://authority/host:port` names the server to ask first; the system's own is asked here. */
function addressOf(endpoint: string): string {
  if (endpoint.startsWith('unix-abstract:')) {
    throw new UsageError('endpoint: unix-abstract: Node.js cannot connect to a socket without a file')
  }
  if (!endpoint.startsWith('dns:')) return endpoint
  return endpoint.replace(/^dns:(?:\/\/[^/]*\/)?(?:\/\/)?/, '')
}
