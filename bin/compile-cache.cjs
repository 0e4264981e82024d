// Keeps what V8 has compiled of the program, so that the next start need not compile it again: that is a third of a start.
// The folder belongs to the user, since what is in it is executed. Without a folder that can be used, nothing is kept.
//
// Node 22 and later do this themselves. Node 20 has the means (`cachedData`), which are used for CommonJS.
const { createHash } = require('node:crypto')
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const Module = require('node:module')
const { homedir } = require('node:os')
const { basename, dirname, join } = require('node:path')
const { cachedDataVersionTag } = require('node:v8')
const { constants, Script } = require('node:vm')

/** Code that runs within this time after the start is compiled by then, and is kept too. */
const KEEP_AFTER_MS = 2_000
/** When that is done. */
exports.KEPT_AFTER_MS = 2 * KEEP_AFTER_MS
/** The length of a SHA-1 digest. */
const DIGEST_BYTES = 20
/**
 * What V8 has compiled is kept again while it grows by more than this part, and by so many starts more: each runs other code,
 * the first one of a data directory or a short command.
 */
const GROWTH = 0.1
const STARTS = 3

/** `version`: that of the package. `bundle`: the folder with its files, which are ASCII. */
exports.useCompileCache = function useCompileCache(version, bundle) {
  if (process.env.NODE_DISABLE_COMPILE_CACHE || !isNode()) return
  const folder = ownFolder(version)
  if (folder === undefined) return
  if (Module.enableCompileCache) {
    Module.enableCompileCache(folder)
    if (Module.flushCompileCache) setTimeout(() => Module.flushCompileCache(), KEEP_AFTER_MS).unref()
  } else compileWithCache(folder, bundle)
}

/** Bun and Deno have these modules too, but another compiler. */
const isNode = () => process.release?.name === 'node' && !process.versions.bun && !process.versions.deno

function ownFolder(version) {
  try {
    // A user without a home directory, as in some containers, makes this fail.
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'binnacle', version)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    return isOwn ? folder : undefined
  } catch {
    return undefined
  }
}

function compileWithCache(folder, bundle) {
  /** Those that are to be kept, with what is kept of them. */
  const scripts = new Map()
  const flags = cachedDataVersionTag()

  function compile(module, source, filename) {
    const path = join(folder, nameOf(filename))
    const { cachedData, starts = 0 } = readIfWhole(path)
    const importModuleDynamically = constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER
    const script = new Script(source, { filename, cachedData, importModuleDynamically })
    const length = script.cachedDataRejected ? 0 : (cachedData?.length ?? 0)
    if (length === 0 || starts < STARTS) scripts.set(path, { script, length, starts: length === 0 ? 0 : starts })
    const run = script.runInThisContext()
    return run.call(module.exports, module.exports, Module.createRequire(filename), module, filename, dirname(filename))
  }

  // oxlint-disable-next-line no-underscore-dangle -- the name that Node gave it
  Module.prototype._compile = function compileCached(content, filename) {
    return compile(this, Module.wrap(content), filename)
  }
  // oxlint-disable-next-line no-underscore-dangle -- the name that Node gave it
  const extensions = Module._extensions
  const others = extensions['.js']
  extensions['.cjs'] = function loadBundled(module, filename) {
    if (dirname(filename) === bundle) compile(module, wrapAscii(readFileSync(filename)), filename)
    else others(module, filename)
  }

  const keepAll = () => {
    // V8 would not accept it at the next start, which begins with the flags that this one began with.
    if (cachedDataVersionTag() !== flags) return
    for (const [path, { script, length, starts }] of scripts) {
      const data = script.createCachedData()
      const isGrown = data.length > length * (1 + GROWTH)
      keep(path, data, isGrown ? starts : starts + 1)
    }
    scripts.clear()
  }
  setTimeout(keepAll, KEEP_AFTER_MS).unref()
  // Servers of tests often run for a shorter time than that.
  process.once('exit', keepAll)
}

/** The same as `Module.wrap`, but the text is outside of V8's heap and neither decoded nor copied once more. */
const wrapAscii = bytes =>
  Buffer.concat([Buffer.from(Module.wrapper[0]), bytes, Buffer.from(Module.wrapper[1])]).latin1Slice()

/** V8 compares only the length of the source, so that the name tells one build from another; its tag is of its version and its flags. */
function nameOf(filename) {
  const { size, mtimeMs } = statSync(filename)
  const path = createHash('sha1').update(filename).digest('hex')
  return [basename(filename), path, size, mtimeMs, process.version, process.arch, cachedDataVersionTag()].join('-')
}

/**
 * V8 does not notice damage, and would run whatever is there: each file begins with the digest of the rest. The number of starts
 * follows.
 */
function readIfWhole(path) {
  try {
    const bytes = readFileSync(path)
    const rest = bytes.subarray(DIGEST_BYTES)
    if (!digestOf(rest).equals(bytes.subarray(0, DIGEST_BYTES))) return {}
    return { starts: rest[0], cachedData: rest.subarray(1) }
  } catch {
    return {}
  }
}

const digestOf = data => createHash('sha1').update(data).digest()

/** Another process must never read half a file. */
function keep(path, data, starts) {
  try {
    const unfinished = `${path}.${process.pid}`
    const rest = Buffer.concat([Buffer.from([starts]), data])
    writeFileSync(unfinished, Buffer.concat([digestOf(rest), rest]), { mode: 0o600 })
    renameSync(unfinished, path)
  } catch {
    // A full or read-only disk: the next start compiles again.
  }
}
