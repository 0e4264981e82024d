// The files of the page, read from the folder in which the build puts them. A client names a file only by a key of this
// table, never by a path of the file system.
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'

export interface PageFile {
  readonly mediaType: string
  /** The name has a hash of the content, so that it never changes. */
  readonly isImmutable: boolean
  /** In the order in which they are preferred; the last is the file itself. */
  readonly variants: readonly Variant[]
}

export interface Variant {
  /** As in Content-Encoding; empty for the file itself. */
  readonly encoding: '' | 'br' | 'gzip'
  readonly etag: string
  readonly bytes: Buffer
}

export const INDEX = 'index.html'

/** The files by their path from the folder, with `/`. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** Gives the files, read once and again after a new build; undefined if the page was not built. */
export function createPageReader(folder: string): () => Promise<PageFiles | undefined> {
  let known: { readonly builtAt: number; readonly files: Promise<PageFiles> } | undefined
  return async () => {
    const built = await stat(join(folder, INDEX)).catch(() => undefined)
    if (!built) return undefined
    if (known?.builtAt !== built.mtimeMs) known = { builtAt: built.mtimeMs, files: readFiles(folder) }
    const { files } = known
    // A build that is under way may take a file away; the next request reads again.
    files.catch(() => void (known = undefined))
    return files
  }
}

async function readFiles(folder: string): Promise<PageFiles> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile())
    .map(entry =>
      join(entry.parentPath, entry.name)
        .slice(folder.length)
        .replace(/^[/\\]+/, ''),
    )
  const all = new Set(names)
  const files = new Map<string, PageFile>()
  for (const name of names) {
    if (isCompressed(name, all)) continue
    const path = name.split(sep).join('/')
    const found = COMPRESSED.filter(({ suffix }) => all.has(name + suffix))
    const variants = [...found, { suffix: '', encoding: '' as const }].map(async ({ suffix, encoding }) => {
      const bytes = await readFile(join(folder, name + suffix))
      const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
      return { encoding, etag: `"${hash}"`, bytes }
    })
    files.set(path, {
      mediaType: MEDIA_TYPES[extname(name)] ?? 'application/octet-stream',
      isImmutable: path.startsWith('assets/'),
      variants: await Promise.all(variants),
    })
  }
  return files
}

const COMPRESSED = [
  { suffix: '.br', encoding: 'br' },
  { suffix: '.gz', encoding: 'gzip' },
] as const

const isCompressed = (name: string, all: ReadonlySet<string>): boolean =>
  COMPRESSED.some(({ suffix }) => name.endsWith(suffix) && all.has(name.slice(0, -suffix.length)))

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}
