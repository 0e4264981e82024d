// The OpenAPI documents of extension servers: the index of version 3, whose documents are passed on when a client asks for
// them, and the document in version 2, which is joined with that of this server. Fetched when an APIService changes
// and once a minute; what a server said last stays while it cannot be reached.
import { type ControllerEnv, createControllerQueue } from '../controllers/start-controllers.js'
import { objectAt, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { convertV2 } from '../openapi/convert-v2.js'
import { NO_REMOTE_DOCUMENTS, type RemoteDocuments, type RemoteState } from '../openapi/remote-documents.js'
import { type RemoteService, type RemoteServices, serverOf } from './remote-services.js'
import { jsonOf, type Transport } from './transport.js'

export interface RemoteOpenApi extends RemoteDocuments {
  stop(): void
}

interface Fetched {
  /** By the path in the index. */
  readonly addresses: ReadonlyMap<string, string>
  readonly etag: string
  readonly spec: ValueObject | undefined
  /** The same in version 3, if the server has no documents of that version. */
  readonly converted: Buffer | undefined
}

const NOTHING: Fetched = { addresses: new Map(), etag: '', spec: undefined, converted: undefined }
const REFRESH_MS = 60_000
const TIMEOUT_MS = 60_000
const USER = { name: 'system:aggregator', groups: [] }
const JSON_ONLY = { accept: 'application/json' }

export function startRemoteOpenApi(services: RemoteServices, transport: Transport, env: ControllerEnv): RemoteOpenApi {
  /** By server, since APIServices of one Service share its documents. */
  const fetched = new Map<string, Fetched>()
  let state: RemoteState | undefined = NO_REMOTE_DOCUMENTS
  let cancel = (): void => {}
  const queue = createControllerQueue('open_api_aggregation_controller', env, refresh)

  async function refresh(server: string): Promise<void> {
    const own = [...services.all()].filter(each => serverOf(each) === server)
    const service = own.find(({ isAvailable }) => isAvailable) ?? own[0]
    if (!service) return void fetched.delete(server)
    const known = fetched.get(server) ?? NOTHING
    const [addresses, document] = await Promise.all([
      fetchIndex(service).catch(() => (known.converted ? undefined : known.addresses)),
      fetchSpec(service, known).catch(() => known),
    ])
    const converted = addresses === undefined ? convertedOf(document, known) : undefined
    const found = { ...document, addresses: addresses ?? NOTHING.addresses, converted }
    fetched.set(server, found)
    if (found.spec !== known.spec || found.converted !== known.converted || !isSame(found.addresses, known.addresses))
      state = undefined
  }

  /** Undefined if the server has no documents in version 3. */
  async function fetchIndex(service: RemoteService): Promise<ReadonlyMap<string, string> | undefined> {
    const response = await transport.get(service, '/openapi/v3', { user: USER, timeoutMs: TIMEOUT_MS })
    if (response.status === 404) return undefined
    if (response.status !== 200) throw new Error(`the index was answered with ${response.status}`)
    const paths = objectAt(jsonOf(response), 'paths')
    return new Map(Object.keys(paths).map(path => [path, stringAt(objectAt(paths, path), 'serverRelativeURL')]))
  }

  async function fetchSpec(service: RemoteService, known: Fetched): Promise<Fetched> {
    const headers = { ...JSON_ONLY, ...(known.etag !== '' && { 'if-none-match': known.etag }) }
    const response = await transport.get(service, '/openapi/v2', { user: USER, headers, timeoutMs: TIMEOUT_MS })
    if (response.status === 304) return known
    if (response.status !== 200) return { ...known, etag: '', spec: undefined }
    return { ...known, etag: String(response.headers['etag'] ?? ''), spec: jsonOf(response) }
  }

  /** Of the group versions that have an APIService; a server may have more. */
  function currentState(): RemoteState {
    const addresses = new Map<string, string>()
    const converted = new Map<string, Buffer>()
    const all = [...services.all()].toSorted((a, b) => b.groupPriority - a.groupPriority || (a.name < b.name ? -1 : 1))
    for (const service of all) {
      const path = pathOf(service)
      const known = fetched.get(serverOf(service)) ?? NOTHING
      const address = known.addresses.get(path)
      if (address) addresses.set(path, address)
      if (known.converted) converted.set(path, known.converted)
    }
    const specs = all.flatMap(service => {
      const { etag, spec } = fetched.get(serverOf(service)) ?? NOTHING
      return spec ? [{ etag, spec, prefix: `/${pathOf(service)}/` }] : []
    })
    return { addresses, converted, specs }
  }

  function changed(name: string): void {
    const service = services.get(name)
    state = undefined
    if (service) queue.add(serverOf(service))
  }

  const stopListening = services.onChange(changed)
  for (const { name } of services.all()) changed(name)
  const refreshAll = (): void => {
    for (const server of new Set([...[...services.all()].map(serverOf), ...fetched.keys()])) queue.add(server)
    cancel = env.clock.after(REFRESH_MS, refreshAll)
  }
  cancel = env.clock.after(REFRESH_MS, refreshAll)
  return {
    current: () => (state ??= currentState()),
    stop() {
      stopListening()
      cancel()
      queue.stop()
    },
  }
}

const convertedOf = ({ spec }: Fetched, known: Fetched): Buffer | undefined => {
  if (spec === known.spec && known.converted) return known.converted
  return spec && Buffer.from(JSON.stringify(convertV2(spec)))
}

const isSame = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([path, address]) => b.get(path) === address)

const pathOf = ({ group, version }: RemoteService): string => (group === '' ? 'api/v1' : `apis/${group}/${version}`)
