// The main script of the single executable. Unpacks the program that the executable carries into the cache folder of the
// user, once for each build, and runs it from there. Files on disk are needed because lmdb is a native library, and because
// what V8 has compiled of a file can be kept for the next start.
const { createHash } = require('node:crypto')
const { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { homedir, tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { getAsset } = require('node:sea')
const { gunzipSync } = require('node:zlib')

const folder = unpackedProgram(getAsset('digest', 'utf8'))
createRequire(join(folder, 'package.json'))('./start.cjs')().catch(error => {
  console.error(error)
  process.exitCode = 1
})

/** The folder with the files of the program. Another process may be unpacking the same: the first that is complete counts. */
function unpackedProgram(digest) {
  const reasons = []
  for (const placeOf of [cacheFolder, temporaryFolder]) {
    try {
      const place = placeOf()
      const complete = join(ownFolder(place), digest)
      if (!existsSync(complete)) unpack(digest, place, complete)
      return complete
    } catch (error) {
      reasons.push(error.message)
    }
  }
  console.error(`binnacle: cannot unpack the program: ${reasons.join('; ')}. XDG_CACHE_HOME names a folder that can be written.`)
  process.exit(1)
}

/** Fails for a user without a home directory, as in some containers. */
function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'binnacle', 'program')
}

function temporaryFolder() {
  return join(tmpdir(), `binnacle-${process.getuid?.() ?? ''}`)
}

/** What is in the folder is executed, so that no other user may write there. */
function ownFolder(path) {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const { uid, mode } = statSync(path)
  if (process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)) return path
  throw new Error(`other users can write to ${path}`)
}

function unpack(digest, place, complete) {
  const unfinished = mkdtempSync(join(place, 'unfinished-'))
  try {
    const archive = gunzipSync(Buffer.from(getAsset('program')))
    if (createHash('sha256').update(archive).digest('hex') !== digest) throw new Error('the executable is damaged')
    for (const { path, bytes } of filesOf(archive)) {
      const target = join(unfinished, path)
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, bytes)
    }
    renameSync(unfinished, complete)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(complete)) throw error
  }
}

/** The archive is the length of a list of names and sizes, that list, and the files one after another. */
function* filesOf(archive) {
  const listEnd = 4 + archive.readUInt32BE(0)
  let at = listEnd
  for (const [path, size] of JSON.parse(archive.toString('utf8', 4, listEnd))) {
    yield { path, bytes: archive.subarray(at, at + size) }
    at += size
  }
}
