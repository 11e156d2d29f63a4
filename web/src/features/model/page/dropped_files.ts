/** Whether files are dragged, and not a text or a link. */
export const hasFiles = ({ dataTransfer }: DragEvent): boolean =>
  dataTransfer?.types.includes('Files') ?? false;

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/** All that is in a folder; a browser tells at most a hundred at once. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** The files of a folder itself; of one that has only folders, theirs. What lies deeper belongs to something else. */
async function filesIn(entries: readonly FileSystemEntry[]): Promise<File[]> {
  const files = entries.filter(isFile);
  if (files.length > 0) {
    return Promise.all(files.map((entry) => new Promise<File>((...done) => entry.file(...done))));
  }
  const inside = await Promise.all(entries.filter(isFolder).map(entriesOf));
  return inside.length > 0 ? filesIn(inside.flat()) : [];
}

/** What was dropped: files, or those of folders. To be called while the event is handled: later it has nothing any more. */
export async function droppedFiles({ dataTransfer }: DragEvent): Promise<File[]> {
  if (!dataTransfer) return [];
  const files = Array.from(dataTransfer.files);
  const entries = Array.from(dataTransfer.items ?? []).flatMap(
    (item) => item.webkitGetAsEntry?.() ?? [],
  );
  return entries.some(isFolder) ? filesIn(entries) : files;
}
