// The documents as they are kept. What there is to say of a resource and of a custom kind is worked out once, for as
// long as they stay the same, and documents are joined from that. A hash is taken of what a document is made from, so
// that nobody has to print a thousand kinds to list their hashes.

import { createHash } from 'node:crypto'
import { inTurns, keptBy, keptWhile, once } from '../../base/memo.js'
import type { Registry } from '../../kinds/registry.js'
import type { TypeTable } from '../../types/type-table.js'
import { operationsOf, ownOperations } from '../operations/operations.js'
import {
  type ExtraResources,
  type PublishedResource,
  type PublishedVersion,
  publishedVersions,
} from '../operations/published-versions.js'
import { type CustomKind, customDefinitions } from '../schemas/custom-schemas.js'
import { type Definition, type Dialect, V2, V3 } from '../schemas/dialect.js'
import { type FindDefinition, typeSchemas } from '../schemas/type-schemas.js'
import { frameV2, PARTS_V2 } from './document-v2.js'
import { frameV3, infoOf, PARTS_V3 } from './document-v3.js'
import { pageOperations } from './page-documents.js'
import {
  type Content,
  contentOf,
  createProtobufPrinter,
  jsonPieces,
  type Part,
  type PartForm,
  type Paths,
  type ProtobufPrinter,
} from './parts.js'

export interface DocumentSource {
  readonly registry: Registry
  /** The types of the built-in kinds. */
  readonly types: () => TypeTable
  /** What is served besides the kinds of the registry: kinds that are not stored, and further subresources. */
  readonly extras?: ExtraResources | undefined
  /** `v1.36.4`. */
  readonly serverVersion: string
  /** Which code prints the documents: another one may print the same kinds otherwise. */
  readonly build: string
}

export interface Document {
  readonly etag: string
  readonly json: () => Buffer
  readonly protobuf: () => Buffer
  /** Works out what it is joined from in either form, in turns with others. */
  readonly prepare: (isProtobuf: boolean) => Promise<void>
}

export interface Documents {
  v2(): Document
  /** By the path in the index: `api/v1`, `apis/apps/v1`. */
  v3(path: string): Document | undefined
  index(): { readonly etag: string; readonly json: Buffer }
  /** Works out all hashes, in turns with others. */
  prepareHashes(): Promise<void>
}

export function createDocuments({ registry, types, extras = {}, serverVersion, build }: DocumentSource): Documents {
  const versions = once(() => publishedVersions(registry, types(), extras))
  const v2 = createPrinter(V2, PARTS_V2, () => typeSchemas(types(), V2))
  const v3 = createPrinter(V3, PARTS_V3, () => typeSchemas(types(), V3))
  const etagFrom = (...parts: readonly unknown[]): string => hashOf(JSON.stringify([build, serverVersion, ...parts]))

  const ofVersion = keptBy((version: PublishedVersion): Document => {
    const { customKinds, ...facts } = version
    const frame = frameV3(infoOf(version.isCustom, serverVersion), !version.isCustom)
    const content = (): Content => contentOf(frame, v3.parts(version), v3.finder([version]))
    return createDocument(etagFrom(facts, customKinds.map(digestOf)), content, v3, [version])
  })

  const ofPage = (path: string, operations: Paths): Document => {
    const frame = frameV3(infoOf(false, serverVersion), true)
    return createDocument(etagFrom(path), () => contentOf(frame, [PARTS_V3.print(operations)], v3.finder([])), v3, [])
  }

  const byPath = keptWhile(
    () => versions().all(),
    (all): Map<string, () => Document> =>
      new Map([
        ...[...pageOperations(all)].map(([path, operations]): [string, () => Document] => [
          path,
          once(() => ofPage(path, operations)),
        ]),
        ...all.map((version): [string, () => Document] => [pathOf(version), () => ofVersion(version)]),
      ]),
  )

  const whole = keptWhile(
    () => versions().all(),
    all => {
      const content = (): Content => {
        const pages = [...pageOperations(all).values()].map(PARTS_V2.print)
        const parts = [...pages, ...all.flatMap(v2.parts)]
        return contentOf(frameV2(parts, serverVersion), parts, v2.finder(all))
      }
      return createDocument(etagFrom(all.map(version => ofVersion(version).etag)), content, v2, all)
    },
  )

  const index = keptWhile(byPath, all => {
    const paths = [...all]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, document]) => [path, { serverRelativeURL: addressOf(path, document().etag) }])
    const json = Buffer.from(JSON.stringify({ paths: Object.fromEntries(paths) as unknown }))
    return { etag: hashOf(json), json }
  })

  return {
    v2: whole,
    v3: path => byPath().get(path)?.(),
    index,
    prepareHashes: () => inTurns(hashing(versions().all())),
  }
}

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

/** Pieces put together: at once, or in turns with others, for there may be many megabytes of them. */
function joined(pieces: () => readonly Buffer[]): { get(): Buffer; prepare(): Promise<void> } {
  let made: Buffer | undefined
  return {
    get: () => (made ??= Buffer.concat(pieces())),
    async prepare() {
      if (made) return
      const all = pieces()
      const whole = Buffer.allocUnsafe(all.reduce((sum, { length }) => sum + length, 0))
      await inTurns(copying(all, whole))
      made ??= whole
    },
  }
}

function* copying(pieces: readonly Buffer[], whole: Buffer): Generator<void> {
  let at = 0
  for (const piece of pieces) {
    at += piece.copy(whole, at)
    yield
  }
}

// ---- hashes

const hashOf = (data: Buffer | string): string => createHash('sha512').update(data).digest('hex').toUpperCase()

/** Tells a custom kind from any that is published otherwise. The schema counts as it is written, unread if that can be. */
const digestOf = keptBy(({ published, ...names }: CustomKind): string => {
  const { selectableFields = [], written } = published ?? {}
  return createHash('sha256')
    .update(JSON.stringify([names, selectableFields]))
    .update(written ?? JSON.stringify(published?.schema ?? null))
    .digest('base64')
})

function* hashing(all: readonly PublishedVersion[]): Generator<void> {
  for (const { customKinds } of all) {
    for (const kind of customKinds) {
      digestOf(kind)
      yield
    }
  }
}

// ---- what documents are joined from

interface Printer {
  /** What the operations of a version come to, resource by resource. */
  readonly parts: (version: PublishedVersion) => Part[]
  readonly finder: (versions: readonly PublishedVersion[]) => FindDefinition
  /** Makes all of it, piece by piece. */
  readonly work: (versions: readonly PublishedVersion[]) => Iterable<void>
  readonly protobuf: ProtobufPrinter
}

function createPrinter(dialect: Dialect, form: PartForm, createSchemas: () => FindDefinition): Printer {
  const schemas = once(createSchemas)
  const partOf = keptBy((resource: PublishedResource, version: PublishedVersion) =>
    form.print(operationsOf(version, resource)),
  )
  const ownPartOf = keptBy((version: PublishedVersion) => form.print(ownOperations(version)))
  const definitionsOf = keptBy((kind: CustomKind) => customDefinitions(kind, dialect))
  return {
    parts: version => [...version.resources.map(resource => partOf(resource, version)), ownPartOf(version)],
    finder: versions => {
      const custom = new Map<string, Definition>()
      for (const { customKinds } of versions) {
        for (const kind of customKinds) for (const [name, one] of definitionsOf(kind)) custom.set(name, one)
      }
      return name => custom.get(name) ?? schemas()(name)
    },
    *work(versions) {
      for (const version of versions) {
        for (const resource of version.resources) yield void partOf(resource, version)
        for (const kind of version.customKinds) yield void definitionsOf(kind)
      }
    },
    protobuf: createProtobufPrinter(form),
  }
}
