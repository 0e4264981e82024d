// Builds the web console to dist/page: a page, its hashed assets, and each of them compressed, so that the server sends
// bytes that are ready. Does nothing if the sources have not changed since.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { root } from './programs.mjs'

export const pageFolder = join(root, 'dist', 'page')
const marker = join(pageFolder, '.built')

/** What the page is made of. It reads YAML and values with the server's own code. */
const BUILT_FROM = ['console', 'src/codec', 'src/meta', 'scripts/build-console.mjs', 'package-lock.json']

/** Compressing less than this gains nothing. */
const MIN_COMPRESSED = 1024

export async function buildConsole() {
  if (existsSync(marker) && statSync(marker).mtimeMs >= Math.max(...BUILT_FROM.map(path => newest(join(root, path)))))
    return
  const { build } = await import('vite')
  rmSync(pageFolder, { recursive: true, force: true })
  await build({
    configFile: false,
    root: join(root, 'console'),
    base: '/console/',
    logLevel: 'warn',
    publicDir: false,
    resolve: { alias: { 'node:buffer': join(root, 'console', 'src', 'yaml', 'node-buffer.ts') } },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: pageFolder,
      emptyOutDir: true,
      target: 'es2023',
      sourcemap: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1024,
      // Inlined files would be data: addresses, which the Content-Security-Policy allows for images only.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: { fileName: 'licenses.md' },
    },
  })
  compress(pageFolder)
  writeFileSync(marker, '')
}

function compress(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) compress(path)
    else if (/\.(js|css|html|svg|md)$/.test(entry.name)) {
      const bytes = readFileSync(path)
      if (bytes.length < MIN_COMPRESSED) continue
      writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
      writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }))
    }
  }
}

function newest(path) {
  const { mtimeMs } = statSync(path)
  return statSync(path).isDirectory()
    ? Math.max(mtimeMs, ...readdirSync(path).map(name => newest(join(path, name))))
    : mtimeMs
}
