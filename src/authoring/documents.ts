// The documents that a command reads: from files, folders and stdin, each with its value and the position of every part.
export * from './documents/document.js'
export * from './documents/read-documents.js'
