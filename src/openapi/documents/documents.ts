// Creates and caches documents. The parts for a resource or a custom kind are cached while it is unchanged, and
// documents are joined from parts. A hash is computed from the inputs of a document, so that the index of a thousand
// kinds does not need their documents.

import { createHash } from 'node:crypto'
import { inPairs, keptBy, keptWhile, once } from '../../base/memo.js'
import { inTurns } from '../../base/turns.js'
import type { Registry } from '../../kinds/registry.js'
import type { TypeTable } from '../../types/type-table.js'
import { operationsOf, ownOperations } from '../operations/operations.js'
import {
  type ExtraResources,
  type PublishedResource,
  type PublishedVersion,
  publishedVersions,
} from '../operations/published-versions.js'
import { NO_REMOTE_DOCUMENTS, type RemoteDocuments, type RemoteState } from '../remote-documents.js'
import { type CustomKind, customDefinitions } from '../schemas/custom-schemas.js'
import { type Definition, type Dialect, V2, V3 } from '../schemas/dialect.js'
import { type FindDefinition, type FindTypeDefinition, typeSchemas } from '../schemas/type-schemas.js'
import { frameV2, PARTS_V2 } from './document-v2.js'
import { frameV3, frameWithoutSchemas, infoOf, PARTS_V3 } from './document-v3.js'
import { encodeV3 } from './gnostic.js'
import { endpointOperations } from './page-documents.js'
import {
  type Content,
  contentOf,
  createProtobufPrinter,
  jsonPieces,
  namesIn,
  type Part,
  type PartPrinter,
  type Paths,
  type ProtobufPrinter,
} from './parts.js'
import { remoteParts } from './remote-parts.js'
import { newNames, renameDefinitions, renamePart } from './taken-names.js'

export interface DocumentSource {
  readonly registry: Registry
  /** The types of the built-in kinds. */
  readonly types: () => TypeTable
  /** Resources besides the kinds of the registry: those that are not stored, and further subresources. */
  readonly extras?: ExtraResources | undefined
  /** Documents of extension servers. */
  readonly remote?: RemoteDocuments | undefined
  /** `1.36`. */
  readonly serverVersion: string
  /** Identifies the code that prints the documents: another build may print the same kinds differently. */
  readonly build: string
  /** Whether the server speaks CBOR. The default is true. */
  readonly cbor?: boolean | undefined
  /** Whether the values that a field of a built-in kind may have are listed. The default is true. */
  readonly enums?: boolean | undefined
}

export interface Document {
  readonly etag: string
  readonly json: () => Buffer
  readonly protobuf: () => Buffer
  /** Creates its parts in one of the formats, in steps that yield to other requests. */
  readonly prepare: (isProtobuf: boolean) => Promise<void>
}

export interface Documents {
  v2(): Document
  /** By the path in the index: `api/v1`, `apis/apps/v1`. */
  v3(path: string): Document | undefined
  index(): { readonly etag: string; readonly json: Buffer }
  /** Computes all hashes, in steps that yield to other requests. */
  prepareHashes(): Promise<void>
}

export function createDocuments({
  registry,
  types,
  extras = {},
  remote,
  serverVersion,
  build,
  cbor = true,
  enums: hasEnums = true,
}: DocumentSource): Documents {
  const versions = once(() => publishedVersions(registry, types(), extras))
  const remoteState = (): RemoteState => remote?.current() ?? NO_REMOTE_DOCUMENTS
  const v2 = createPrinter(V2, PARTS_V2, () => typeSchemas(types(), { ...V2, hasEnums }), cbor)
  const v3 = createPrinter(V3, PARTS_V3, () => typeSchemas(types(), { ...V3, hasEnums }), cbor)
  const etagFrom = (...parts: readonly unknown[]): string =>
    hashOf(JSON.stringify([build, serverVersion, cbor, ...parts]))

  const ofVersion = keptBy((version: PublishedVersion): Document => {
    const { customKinds, ...attributes } = version
    const frame = frameV3(infoOf(version.isCustom, serverVersion), !version.isCustom)
    const content = (): Content => contentOf(frame, v3.parts(version), v3.finder([version]))
    return createDocument(etagFrom(attributes, customKinds.map(digestOf)), content, v3, [version])
  })

  const ofEndpoint = (path: string, operations: Paths): Document => {
    const info = infoOf(false, serverVersion)
    const frame = path.includes('openid') ? frameWithoutSchemas(info) : frameV3(info, true)
    return createDocument(etagFrom(path), () => contentOf(frame, [PARTS_V3.print(operations)], v3.finder([])), v3, [])
  }

  const byPath = keptWhile(
    () => versions().all(),
    (all): Map<string, () => Document> =>
      new Map([
        ...[...endpointOperations(all)].map(([path, operations]): [string, () => Document] => [
          path,
          once(() => ofEndpoint(path, operations)),
        ]),
        ...all.map((version): [string, () => Document] => [pathOf(version), () => ofVersion(version)]),
      ]),
  )

  const complete = keptWhile(
    inPairs(() => versions().all(), remoteState),
    ([all, { specs }]) => {
      const content = (): Content => {
        const pages = [...endpointOperations(all).values()].map(PARTS_V2.print)
        const builtin = [...pages, ...all.filter(({ isCustom }) => !isCustom).flatMap(v2.parts)]
        const custom = all.filter(({ isCustom }) => isCustom)
        const definitions = v2.customDefinitions(all)
        const names = newNames(definitions.keys(), namesIn(builtin, v2.findBuiltin))
        const findCustom = renameDefinitions(definitions, names)
        const own = [...builtin, ...custom.flatMap(v2.parts).map(part => renamePart(part, names))]
        const elsewhere = remoteParts(specs, name => findCustom(name) ?? v2.findBuiltin(name))
        const parts = [...own, ...elsewhere.parts]
        return contentOf(frameV2(parts, serverVersion), parts, elsewhere.find)
      }
      const remoteTags = specs.length > 0 ? [specs.map(({ etag, prefix }) => [etag, prefix])] : []
      return createDocument(
        etagFrom(
          all.map(version => ofVersion(version).etag),
          ...remoteTags,
        ),
        content,
        v2,
        all,
      )
    },
  )

  /** Of extension servers without documents in version 3. */
  const converted = keptWhile(
    remoteState,
    state => new Map([...state.converted].map(([path, json]) => [path, ofConverted(json)])),
  )

  const index = keptWhile(inPairs(byPath, remoteState), ([all, { addresses }]) => {
    const own = [...all].map(([path, document]): [string, string] => [path, addressOf(path, document().etag)])
    for (const [path, { etag }] of converted()) own.push([path, addressOf(path, etag)])
    const paths = [...new Map([...own, ...addresses])]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, serverRelativeURL]) => [path, { serverRelativeURL }])
    const json = Buffer.from(JSON.stringify({ paths: Object.fromEntries(paths) as unknown }))
    return { etag: hashOf(json), json }
  })

  return {
    v2: complete,
    v3: path => byPath().get(path)?.() ?? converted().get(path),
    index,
    prepareHashes: () => inTurns(hashing(versions().all())),
  }
}

const ofConverted = keptBy(
  (json: Buffer): Document => ({
    etag: hashOf(json),
    json: () => json,
    protobuf: once(() => encodeV3(json)),
    prepare: async () => {},
  }),
)

export const addressOf = (path: string, hash: string): string => `/openapi/v3/${path}?hash=${hash}`

const pathOf = ({ group, apiVersion }: PublishedVersion): string =>
  group === '' ? `api/${apiVersion}` : `apis/${apiVersion}`

function createDocument(
  etag: string,
  createContent: () => Content,
  { protobuf, work }: Printer,
  versions: readonly PublishedVersion[],
): Document {
  const content = once(createContent)
  const json = joined(() => jsonPieces(content()))
  const encoded = joined(() => protobuf.pieces(content()))
  return {
    etag,
    json: json.get,
    protobuf: encoded.get,
    async prepare(isProtobuf) {
      await inTurns(work(versions))
      if (isProtobuf) await inTurns(protobuf.work(content()))
      await (isProtobuf ? encoded : json).prepare()
    },
  }
}

/** Joins pieces at once or in steps, because there may be many megabytes of them. */
function joined(pieces: () => readonly Buffer[]): { get(): Buffer; prepare(): Promise<void> } {
  let created: Buffer | undefined
  return {
    get: () => (created ??= Buffer.concat(pieces())),
    async prepare() {
      if (created) return
      const all = pieces()
      const complete = Buffer.allocUnsafe(all.reduce((sum, { length }) => sum + length, 0))
      await inTurns(copying(all, complete))
      created ??= complete
    },
  }
}

function* copying(pieces: readonly Buffer[], complete: Buffer): Generator<void> {
  let at = 0
  for (const piece of pieces) {
    at += piece.copy(complete, at)
    yield
  }
}

// ---- hashes

const hashOf = (data: Buffer | string): string => createHash('sha512').update(data).digest('hex').toUpperCase()

/** Distinguishes a custom kind from any other published one. The written schema is used without decoding if possible. */
const digestOf = keptBy(({ type, ...names }: CustomKind): string =>
  createHash('sha256')
    .update(JSON.stringify(names))
    .update(type.writtenBytes ?? JSON.stringify(type.written ?? null))
    .digest('base64'),
)

function* hashing(all: readonly PublishedVersion[]): Generator<void> {
  for (const { customKinds } of all) {
    for (const kind of customKinds) {
      digestOf(kind)
      yield
    }
  }
}

// ---- parts of documents

interface Printer {
  /** The parts for the operations of a version, one per resource. */
  readonly parts: (version: PublishedVersion) => Part[]
  readonly customDefinitions: (versions: readonly PublishedVersion[]) => ReadonlyMap<string, Definition>
  readonly findBuiltin: FindDefinition
  readonly finder: (versions: readonly PublishedVersion[]) => FindDefinition
  /** Creates all parts, one per step. */
  readonly work: (versions: readonly PublishedVersion[]) => Iterator<void>
  readonly protobuf: ProtobufPrinter
}

function createPrinter(
  dialect: Dialect,
  printer: PartPrinter,
  createSchemas: () => FindTypeDefinition,
  cbor: boolean,
): Printer {
  const schemas = once(createSchemas)
  const partOf = keptBy((resource: PublishedResource, version: PublishedVersion) =>
    printer.print(operationsOf(version, resource, cbor)),
  )
  const ownPartOf = keptBy((version: PublishedVersion) => printer.print(ownOperations(version, cbor)))
  const definitionsOf = keptBy((kind: CustomKind) => customDefinitions(kind, dialect))
  const customOf = (versions: readonly PublishedVersion[]): Map<string, Definition> => {
    const custom = new Map<string, Definition>()
    for (const { customKinds } of versions) {
      for (const kind of customKinds) for (const [name, one] of definitionsOf(kind)) custom.set(name, one)
    }
    return custom
  }
  return {
    parts: version => [...version.resources.map(resource => partOf(resource, version)), ownPartOf(version)],
    customDefinitions: customOf,
    findBuiltin: name => schemas()(name),
    finder: versions => {
      const custom = customOf(versions)
      const documentOf = versions.length === 1 && !versions[0]!.isCustom ? versions[0] : undefined
      return name => custom.get(name) ?? schemas()(name, documentOf)
    },
    *work(versions) {
      for (const version of versions) {
        for (const resource of version.resources) yield void partOf(resource, version)
        for (const kind of version.customKinds) yield void definitionsOf(kind)
      }
    },
    protobuf: createProtobufPrinter(printer),
  }
}
