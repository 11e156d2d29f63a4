// The page: trains, pauses, resumes, saves and opens, and draws the loss while it falls.
import { StrictMode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { fewest, lettersOf, Pupil } from './pupil.js';

const rhyme = `Twinkle, twinkle, little star,
How I wonder what you are!
Up above the world so high,
Like a diamond in the sky.
`;

function Curve({ losses, highest }: { losses: readonly number[]; highest: number }) {
  const wide = Math.max(40, losses.length - 1);
  const points = losses.map((loss, i) => `${(100 * i) / wide},${100 - (100 * loss) / highest}`);
  const last = losses.at(-1)?.toFixed(2) ?? 'none yet';
  return (
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={`Loss: ${last}`}>
      <polyline points={points.join(' ')} />
    </svg>
  );
}

function App() {
  const [text, setText] = useState(rhyme);
  const [phase, setPhase] = useState<'none' | 'learning' | 'paused'>('none');
  const [losses, setLosses] = useState<readonly number[]>([]);
  const [status, setStatus] = useState('not started');
  const [said, setSaid] = useState('');
  const [file, setFile] = useState('');
  const pupil = useRef<Pupil>(undefined);

  const forget = async () => {
    const old = pupil.current;
    pupil.current = undefined;
    await old?.dispose();
  };
  useEffect(() => () => void forget(), []); // when the page leaves the component
  useEffect(() => () => URL.revokeObjectURL(file), [file]);

  /** Does what an event requested, and says what went wrong. */
  const act = (work: () => Promise<void>) => {
    work().catch((error: Error) => setStatus(`failed: ${error.message}`));
  };

  const begin = async (from?: Blob) => {
    await forget();
    setLosses([]);
    setPhase('none');
    const own = await Pupil.of(text, from);
    pupil.current = own;
    setPhase('learning');
    setStatus(`step ${own.steps}`);
    own
      .learn(({ meanLoss }) => {
        setLosses((all) => [...all, meanLoss]);
        setStatus(`step ${own.steps}, loss ${meanLoss.toFixed(3)}`);
      })
      .catch((error: Error) => {
        if (pupil.current === own) setStatus(`failed: ${error.message}`);
      });
  };
  const pause = async () => {
    await pupil.current?.pause();
    setPhase('paused');
  };
  const resume = async () => {
    await pupil.current?.resume();
    setPhase('learning');
  };
  const save = async () => {
    if (pupil.current) setFile(URL.createObjectURL(await pupil.current.save()));
  };
  const say = async () => setSaid((await pupil.current?.say(text.slice(0, 8), 60)) ?? '');

  return (
    <main>
      <h1>Learn a text</h1>
      <p>
        A model of two layers learns a text by heart, in a worker of this tab. Pause it, save it,
        and go on another day with the file.
      </p>
      <label htmlFor="text">Text, at least {fewest} letters</label>
      <textarea
        id="text"
        rows={5}
        value={text}
        disabled={phase !== 'none'}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="row">
        <button id="train" disabled={text.length < fewest} onClick={() => act(() => begin())}>
          {phase === 'none' ? 'Train' : 'Begin anew'}
        </button>
        {phase === 'paused' ? (
          <button id="resume" onClick={() => act(resume)}>
            Resume
          </button>
        ) : (
          <button id="pause" disabled={phase === 'none'} onClick={() => act(pause)}>
            Pause
          </button>
        )}
        <button id="recite" disabled={phase === 'none'} onClick={() => act(say)}>
          Recite
        </button>
        <button id="save" disabled={phase === 'none'} onClick={() => act(save)}>
          Save
        </button>
        {file && (
          <a href={file} download="pupil.safetensors">
            pupil.safetensors
          </a>
        )}
        <label className="open">
          Open{' '}
          <input
            id="open"
            type="file"
            onChange={(event) => act(() => begin(event.target.files?.[0]))}
          />
        </label>
        <output id="status">{status}</output>
      </p>
      <Curve losses={losses} highest={Math.log(lettersOf(text).length) * 1.1} />
      <h2>What it says</h2>
      <pre id="said" tabIndex={0} role="region" aria-label="What it says">
        {said}
      </pre>
    </main>
  );
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
